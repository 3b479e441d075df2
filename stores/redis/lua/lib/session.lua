--[[ What the transitions share. Keys of a session, in this order in every script but append, and
     then those of the conversation's own session once more; for that one they are the same:
     1 root  2 stream  3 rows  4 calls  5 order  6 busy  7 writers  8 messages  9 runs
     10 checkpoints  11 settled  12 results  13 states  14 staged  15 notices  16 children  17 owners
     18 queue  19 channel  20 stop channel
     root: hash, the session and its newest run. calls: hash of <field>:<toolCallId> for the calls of
     the newest committed step, and lapsed:<toolCallId> for those of earlier ones that timed out. order: their ids. busy: what can still progress without a person.
     writers: hash of t: token, b: batch, s: sequence of that batch, f: sequence before its first
     entry, n: nonce of one of no run, per writer; fails:<step>. settled: ids of all calls ever taken in. results: large results
     by call. states: the agent's own state by version. staged: changes to it that calls ask for.
     Of the newest run the root keeps usage: six numbers as `more` of add_usage; output: the result
     that its model handed in, as JSON; finishReason: of its newest committed step.
     notices: hidden rows for the model that wait for the next step or turn.
     A sub-agent's session shares stream, results, children, owners and channels with the
     conversation's. children: hash of all sub-agents' sessions by the part of their id behind the
     conversation's, and the run they belong to. owners: hash of call ids, and that part of the
     sub-agent that made them.
     queue: list of entries {id, mode, queuedAt, by, messages: {id, hash, row, hidden}}, a row being JSON text.
     STREAM_TTL_SECONDS and SESSION_TTL_SECONDS (0: never) are set by the loader. ]]
local NAMES = {
  'root', 'stream', 'rows', 'calls', 'order', 'busy', 'writers', 'messages', 'runs', 'checkpoints',
  'settled', 'results', 'states', 'staged', 'notices', 'children', 'owners', 'queue',
  'channel', 'stop',
}
local STORED = 18 -- how many of the keys hold data
local SHARED = { stream = true, results = true, children = true, owners = true, channel = true, stop = true }
-- K: the session that is worked on. T: the conversation's own, whose stream all share.
local K, T = {}, {}
for i, name in ipairs(NAMES) do K[name], T[name] = KEYS[i], KEYS[#NAMES + i] end
local CALL_FIELDS = {
  'state:', 'name:', 'kind:', 'spec:', 'row:', 'decision:', 'asked:', 'again:', 'n:', 'deadline:', 'late:',
  'ask:', 'part:', 'child:', 'brief:', 'told:', 'lease:',
}

local CODE_TEXT = {
  run_stopped = 'The run was stopped before this call was carried out.',
  run_failed = 'The run failed before this call was carried out.',
  client_tool_abandoned = 'The user went on without answering this call.',
  tool_outcome_unknown = 'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
}

-- What the model is told of an answer that came when it knew of the timeout.
local function late_text(id, name, answer)
  return 'The call "' .. id .. '" of "' .. name .. '" was answered after its time limit. ' .. answer
end

local BASE = T.root:sub(1, -5)
local CONVERSATION = BASE:match('{([^{}]*)}:$')

-- The part of the session's id behind the conversation's; '' for the conversation's own.
local function own_part()
  return K.root == T.root and '' or K.root:sub(#BASE + 1, -6)
end

local function keys_of(part)
  if part == '' then return T end
  local keys = {}
  for _, name in ipairs(NAMES) do keys[name] = SHARED[name] and T[name] or BASE .. part .. ':' .. name end
  return keys
end

-- Does something with another session of the conversation.
local function in_session(part, work)
  local before = K
  K = keys_of(part)
  local result = work()
  K = before
  return result
end

-- Sequence and status of the stream are the conversation's.
local function root_table()
  local flat, r = redis.call('HGETALL', K.root), {}
  for i = 1, #flat, 2 do r[flat[i]] = flat[i + 1] end
  if K.root ~= T.root then
    local shared = redis.call('HMGET', T.root, 'seq', 'stream')
    r.seq, r.stream = shared[1] or nil, shared[2] or nil
  end
  return r
end

-- Milliseconds since the epoch by the clock of Redis: deadlines do not depend on callers' clocks.
local function store_now()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Nothing of a session that is at work or waits expires.
local function keep_for_ever()
  if redis.call('PTTL', T.children) >= 0 then
    for _, part in ipairs(redis.call('HKEYS', T.children)) do
      in_session(part, function()
        for i = 1, STORED do redis.call('PERSIST', K[NAMES[i]]) end
      end)
    end
  end
  for i = 1, STORED do redis.call('PERSIST', KEYS[i]) end
end

-- Forgets the control messages of a stream that has expired.
local function recount_controls()
  if redis.call('EXISTS', K.stream) == 0 then redis.call('HSET', K.root, 'controls', 0) end
end

local CONTROL = { stream_end = true, stream_status = true, stream_truncated = true }
local function is_control(json)
  local ok, message = pcall(cjson.decode, json)
  return ok and type(message) == 'table' and CONTROL[message.type] == true
end

-- Removes the entries up to a sequence.
local function trim_log(sequence)
  local controls = 0
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '-', string.format('%d', sequence) .. '-0')) do
    if entry[2][2] == '' and is_control(entry[2][4]) then controls = controls + 1 end
  end
  redis.call('HINCRBY', K.root, 'controls', string.format('%d', -controls))
  redis.call('XTRIM', K.stream, 'MINID', string.format('%d', sequence + 1) .. '-0')
end

-- Arms the expiry of what has ended; a stream without a session goes as a whole.
local function arm_expiry(has_session)
  local rest = has_session and SESSION_TTL_SECONDS or STREAM_TTL_SECONDS
  -- The stream never outlives the sequence that numbers it.
  local stream = rest > 0 and math.min(rest, STREAM_TTL_SECONDS) or STREAM_TTL_SECONDS
  redis.call('EXPIRE', K.stream, stream)
  if rest == 0 then return end
  local function expire()
    for i = 1, STORED do
      if K[NAMES[i]] ~= T.stream then redis.call('EXPIRE', K[NAMES[i]], rest) end
    end
  end
  expire()
  for _, part in ipairs(redis.call('HKEYS', T.children)) do in_session(part, expire) end
end

-- What is written after the end expires with the session's other keys.
local function expire_with_root()
  local left = redis.call('PTTL', K.root)
  if left < 0 then return end
  for i = 1, STORED do
    if redis.call('PTTL', KEYS[i]) == -1 then redis.call('PEXPIRE', KEYS[i], left) end
  end
end

-- Replaces the agent's own state. A version that a checkpoint names stays.
local function put_state(r, state)
  local version = tonumber(r.stateV or '0')
  if version ~= tonumber(r.checkpointV or '0') then redis.call('HDEL', K.states, r.stateV) end
  local next_version = string.format('%d', version + 1)
  redis.call('HSET', K.states, next_version, state)
  redis.call('HSET', K.root, 'stateV', next_version)
end

local function open_session_log(r)
  return open_log(T.root, T.stream, T.channel, tonumber(r.seq or '0'))
end

-- A chunk that the store writes by itself; who = {agentId, agentType, step, now}.
local function own_chunk(who, kind, fields)
  fields.type, fields.agentId, fields.agentType = kind, who.agentId, who.agentType
  fields.step, fields.timestamp = who.step, who.now
  return cjson.encode(fields)
end
