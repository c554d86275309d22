/** The respondent's own copy of the conversation. */

/** @typedef {import("./log.js").Entry} Entry */
/** @typedef {{title: string, interviewer: string, you: string, skipped: string}} Labels */

/**
 * @param {readonly Entry[]} log
 * @param {Labels} labels
 * @returns {string} plain text, one blank line between utterances.
 */
export function transcriptText(log, labels) {
  const rows = log.map((entry) => {
    const who = entry.speaker === "respondent" ? labels.you : labels.interviewer;
    return `${who}: ${entry.kind === "skip" ? `[${labels.skipped}]` : entry.text}`;
  });
  return `${[labels.title, "", ...rows.flatMap((row) => [row, ""])].join("\n").trimEnd()}\n`;
}

/**
 * @param {readonly Entry[]} log
 * @param {Labels} labels
 * @returns {string} Markdown: questions in bold, answers as quotations.
 */
export function transcriptMarkdown(log, labels) {
  const rows = log.map((entry) => {
    if (entry.speaker === "interviewer") return `**${escapeMarkdown(entry.text.trim())}**`;
    if (entry.kind === "skip") return `> *${labels.skipped}*`;
    return escapeMarkdown(entry.text).split("\n").map((line) => `> ${line}`.trimEnd()).join("\n");
  });
  return `# ${escapeMarkdown(labels.title)}\n\n${rows.join("\n\n")}\n`;
}

/** @param {string} text */
function escapeMarkdown(text) {
  return text.replace(/[\\`*_[\]<>#|]/g, "\\$&");
}

/**
 * @param {string} title
 * @param {"txt" | "md"} extension
 * @returns {string} a file name any system accepts.
 */
export function transcriptName(title, extension) {
  const slug = title.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${slug || "interview"}.${extension}`;
}
