-- Prepended to every script. KEYS are always the eight keys of one session; ARGV[1] is its id.
local META, STATE, EVENTS, EMBEDDINGS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local RECEIPTS, INBOX, TOMBSTONE, JOURNAL = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local SESSION = ARGV[1]
local HOT = {META, STATE, EVENTS, EMBEDDINGS, RECEIPTS}

local function load_meta()
  local flat = redis.call('HGETALL', META)
  local meta = {}
  for i = 1, #flat, 2 do meta[flat[i]] = flat[i + 1] end
  return meta
end

-- The keys of a session expire together or not at all: what holds for META holds for all.
local function persist()
  if redis.call('PERSIST', META) == 0 then return end
  for i = 2, #HOT do redis.call('PERSIST', HOT[i]) end
end

local function expire(ttl_ms)
  for _, key in ipairs(HOT) do redis.call('PEXPIRE', key, ttl_ms) end
end

-- Appends one event, a JSON object as text, and gives it the next id.
local function append(event, extra)
  local id = redis.call('RPUSH', EVENTS, 'reserved')
  redis.call('LSET', EVENTS, -1, string.format('{"id":%d,', id) .. (extra or '') .. string.sub(event, 2))
  return id
end

local function journal(kind, ...)
  return redis.call('XADD', JOURNAL, '*', 'kind', kind, 'session', SESSION, ...)
end

-- The result of the last operation is kept, so that repeating it after a lost answer changes nothing.
local function remember(nonce, result)
  redis.call('HSET', META, 'op', nonce, 'result', cmsgpack.pack(result))
  return result
end

local function repeated(meta, nonce)
  if meta.op == nonce then return cmsgpack.unpack(meta.result) end
end

local function wake(kind, owner)
  redis.call('PUBLISH', 'askwell:wake', kind .. ' ' .. SESSION .. ' ' .. owner)
end

local function view(meta)
  return {'OK', redis.call('GET', STATE) or '', meta.rev, meta.epoch, redis.call('LLEN', EVENTS), meta.owner or '',
    meta.p_key or '', meta.p_payload or '', meta.p_digest or '', meta.p_attempt or '0',
    meta.p_failed or '0', meta.p_turn or '0'}
end
