/** Short soft tones for those who want to hear what happens. */

/** @type {Record<"begin" | "taken" | "unheard", readonly [number, number]>} Two pitches each, in hertz. */
const PITCHES = { begin: [520, 660], taken: [660, 520], unheard: [330, 330] };

/**
 * @param {AudioContext | null} context
 * @param {"begin" | "taken" | "unheard"} name
 */
export function playCue(context, name) {
  playTones(context, PITCHES[name]);
}

/**
 * @param {AudioContext | null} context nothing is heard before its first gesture.
 * @param {readonly number[]} pitches in hertz, one after the other.
 * @param {number} [loudness] from 0 to 1.
 */
export function playTones(context, pitches, loudness = 0.05) {
  if (!context || context.state !== "running") return;
  pitches.forEach((frequency, index) => {
    const at = context.currentTime + index * 0.12;
    const tone = new OscillatorNode(context, { type: "sine", frequency });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(loudness, at + 0.015);
    volume.gain.exponentialRampToValueAtTime(0.0005, at + 0.11);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.12);
  });
}
