--[[ What the transitions share. Keys of a session, in this order in every script but append:
     1 root  2 stream  3 rows  4 calls  5 order  6 busy  7 writers  8 messages  9 runs
     10 checkpoints  11 settled  12 results  13 states  14 staged  15 notices  16 channel  17 stop channel
     root: hash, the session and its newest run. calls: hash of <field>:<toolCallId> for the calls of
     the newest committed step, and lapsed:<toolCallId> for those of earlier ones that timed out. order: their ids. busy: what can still progress without a person.
     writers: hash of t: token, b: batch, s: sequence of that batch, f: sequence before its first
     entry, n: nonce of one of no run, per writer; fails:<step>. settled: ids of all calls ever taken in. results: large results
     by call. states: the agent's own state by version. staged: changes to it that calls ask for.
     Of the newest run the root keeps usage: six numbers as `more` of add_usage; output: the result
     that its model handed in, as JSON; finishReason: of its newest committed step.
     notices: hidden rows for the model that wait for the next step or turn.
     STREAM_TTL_SECONDS and SESSION_TTL_SECONDS (0: never) are set by the loader. ]]
local K = {
  root = KEYS[1], stream = KEYS[2], rows = KEYS[3], calls = KEYS[4], order = KEYS[5], busy = KEYS[6],
  writers = KEYS[7], messages = KEYS[8], runs = KEYS[9], checkpoints = KEYS[10], settled = KEYS[11],
  results = KEYS[12], states = KEYS[13], staged = KEYS[14], notices = KEYS[15], channel = KEYS[16],
  stop = KEYS[17],
}
local STORED = 15 -- how many of the keys hold data
local CALL_FIELDS = {
  'state:', 'name:', 'kind:', 'spec:', 'row:', 'decision:', 'asked:', 'again:', 'n:', 'deadline:', 'late:',
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

local function root_table()
  local flat, r = redis.call('HGETALL', K.root), {}
  for i = 1, #flat, 2 do r[flat[i]] = flat[i + 1] end
  return r
end

-- Milliseconds since the epoch by the clock of Redis: deadlines do not depend on callers' clocks.
local function store_now()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Nothing of a session that is at work or waits expires.
local function keep_for_ever()
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
  for i = 1, STORED do
    if KEYS[i] ~= K.stream then redis.call('EXPIRE', KEYS[i], rest) end
  end
end

-- What is written after the end expires with the session's other keys.
local function expire_with_root()
  local left = redis.call('PTTL', K.root)
  if left < 0 then return end
  for i = 1, STORED do
    if redis.call('PTTL', KEYS[i]) == -1 then redis.call('PEXPIRE', KEYS[i], left) end
  end
end

local function open_session_log(r)
  return open_log(K.root, K.stream, K.channel, tonumber(r.seq or '0'))
end

-- A chunk that the store writes by itself; who = {agentId, agentType, step, now}.
local function own_chunk(who, kind, fields)
  fields.type, fields.agentId, fields.agentType = kind, who.agentId, who.agentType
  fields.step, fields.timestamp = who.step, who.now
  return cjson.encode(fields)
end

local function call_field(id, field)
  return redis.call('HGET', K.calls, field .. ':' .. id)
end

local function settle_row(id, row)
  redis.call('HSET', K.calls, 'state:' .. id, 'settled', 'row:' .. id, row)
  redis.call('SREM', K.busy, id)
end

-- Settles a call by a code of CODE_TEXT.
local function settle_by_code(log, who, id, code)
  local name, kind = call_field(id, 'name'), call_field(id, 'kind')
  local asked = call_field(id, 'decision')
  local decision = asked and cjson.decode(asked) or cjson.decode(call_field(id, 'spec')).decision
  settle_row(id, cjson.encode({
    role = 'tool', toolCallId = id, toolName = name, error = CODE_TEXT[code], errorCode = code,
    decision = decision,
  }))
  local chunk = { toolCallId = id, toolName = name, result = cjson.null, error = CODE_TEXT[code], errorCode = code }
  if kind == 'server' then chunk.providerExecuted = true end
  log.write('', own_chunk(who, 'tool_end', chunk))
end

-- Settles whatever is open: what had started as outcome unknown, the rest by the given code.
local function close_calls(log, who, code)
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local state = call_field(id, 'state')
    if state == 'started' then
      settle_by_code(log, who, id, 'tool_outcome_unknown')
    elseif state ~= 'settled' then
      settle_by_code(log, who, id, code)
    end
  end
end

local function has_unsettled()
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    if call_field(id, 'state') ~= 'settled' then return true end
  end
  return false
end

-- Takes the settled calls' results into the transcript, in the order of the calls.
local function take_in_results()
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    redis.call('RPUSH', K.rows, call_field(id, 'row'))
    if call_field(id, 'late') == '1' then
      redis.call('HSET', K.calls, 'lapsed:' .. id, call_field(id, 'kind') .. ' ' .. call_field(id, 'name'))
    end
    for _, field in ipairs(CALL_FIELDS) do redis.call('HDEL', K.calls, field .. id) end
    redis.call('SADD', K.settled, id)
  end
  redis.call('DEL', K.order)
end

-- Tells the model what came too late to be a result.
local function take_in_notices()
  for _, row in ipairs(redis.call('LRANGE', K.notices, 0, -1)) do redis.call('RPUSH', K.rows, row) end
  redis.call('DEL', K.notices)
end

-- Adds a reply's row; the first one of a turn makes a new visible message.
local function push_reply(r, row)
  redis.call('RPUSH', K.rows, row)
  if r.replied ~= r.turn then
    redis.call('HSET', K.root, 'replied', r.turn)
    redis.call('HINCRBY', K.root, 'uiCount', 1)
  end
end

-- Removes a writer's entries since its claim; returns how many there were.
local function withdraw(writer)
  local first, removed = redis.call('HGET', K.writers, 'f:' .. writer), 0
  if not first then return 0 end
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. first .. '-0', '+')) do
    if entry[2][2] == writer then
      redis.call('XDEL', K.stream, entry[1])
      removed = removed + 1
    end
  end
  return removed
end

-- Makes an attempt the owner of its writer name.
local function own_writer(writer, token, seq)
  redis.call('HSET', K.writers, 't:' .. writer, token, 'b:' .. writer, 0, 's:' .. writer, 0,
    'f:' .. writer, string.format('%d', seq))
end

local function release_writer(writer)
  redis.call('HDEL', K.writers, 't:' .. writer, 'b:' .. writer, 's:' .. writer, 'f:' .. writer, 'n:' .. writer)
end

-- Withdraws an attempt and tells viewers.
local function discard_attempt(r, log, who, writer, reason)
  local removed = withdraw(writer)
  log.write('', own_chunk(who, 'step_discarded', {
    runId = r.run or '', stepId = 's' .. string.format('%d', who.step), reason = reason,
  }))
  if removed > 0 then
    log.write('', own_chunk(who, 'stream_resync', {
      checkpointId = r.checkpoint or '', stepCount = tonumber(r.committed or '0'),
      messageCount = redis.call('LLEN', K.rows), fromSequence = log.seq, reason = 'crash_recovery',
    }))
  end
end

-- Notes the earliest deadline of the calls that wait.
local function note_deadline()
  local first
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local deadline = call_field(id, 'state') == 'waiting' and tonumber(call_field(id, 'deadline') or '')
    if deadline and (not first or deadline < first) then first = deadline end
  end
  if first then
    redis.call('HSET', K.root, 'deadline', string.format('%d', first))
  else
    redis.call('HDEL', K.root, 'deadline')
  end
  return first
end

-- Pauses run, session and stream when only people can progress.
local function pause_if_waiting(r, log, who)
  if redis.call('SCARD', K.busy) > 0 then return false end
  local waiting, approval = {}, false
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    if call_field(id, 'state') == 'waiting' then
      waiting[#waiting + 1] = id
      approval = approval or call_field(id, 'kind') == 'approval'
    end
  end
  if #waiting == 0 then return false end
  log.write('', own_chunk(who, 'suspension_marker', {
    kind = 'suspended_client_tool', payload = { toolCallIds = waiting },
  }))
  for _, id in ipairs(waiting) do
    local wait = cjson.decode(call_field(id, 'spec')).deadlineMs
    -- A clock that runs is not set back by another pause.
    if wait then
      redis.call('HSETNX', K.calls, 'deadline:' .. id, string.format('%d', store_now() + wait))
    end
  end
  log.write('', own_chunk(who, 'run_paused', {
    runId = r.run, reason = approval and 'approval' or 'client_tool',
    pendingToolName = call_field(waiting[1], 'name'), pendingToolCallId = waiting[1],
    deadline = note_deadline(),
  }))
  for _, id in ipairs(waiting) do
    redis.call('HSET', K.calls, 'asked:' .. id, string.format('%d', log.seq))
  end
  redis.call('HSET', K.root, 'status', approval and 'waiting_approval' or 'waiting_tool',
    'stream', 'paused', 'pauseSeq', string.format('%d', log.seq))
  return true
end

-- The last answer of a batch releases the calls that were approved; a paused run goes on.
local function resume_if_answered(r, log, who)
  local approved = {}
  for _, id in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
    local state = call_field(id, 'state')
    if state == 'waiting' then return '' end
    if state == 'approved' then approved[#approved + 1] = id end
  end
  for _, id in ipairs(approved) do redis.call('SADD', K.busy, id) end
  local list = #approved == 0 and '[]' or cjson.encode(approved)
  local resumption = '{"step":' .. r.committed .. ',"approved":' .. list .. '}'
  -- While siblings still run nothing had paused, and the workflow waits for them anyway.
  if r.stream == 'paused' then
    log.write('', own_chunk(who, 'run_resumed', {
      runId = r.run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = who.step, mode = 'continue',
    }))
  end
  redis.call('HSET', K.root, 'status', 'running', 'stream', 'active', 'resume', resumption)
  return resumption
end

-- Adds what a model call used to the run's totals: tokens in, out, cached, written to the cache,
-- of reasoning, and millionths of a dollar. Nothing to add: ''.
local function add_usage(r, more)
  if more == '' then return end
  local sums, before = {}, (r.usage or '0 0 0 0 0 0'):gmatch('%d+')
  for n in more:gmatch('%d+') do
    sums[#sums + 1] = string.format('%d', tonumber(n) + tonumber(before() or '0'))
  end
  r.usage = table.concat(sums, ' ')
  redis.call('HSET', K.root, 'usage', r.usage)
end

-- Adds a field to a JSON object as it is: Lua would not give every value back as it came.
local function with_json(object, field, json)
  if not json then return object end
  return '{"' .. field .. '":' .. json .. ',' .. object:sub(2)
end

-- The end of a run: run, session and stream become terminal together, expiry is armed.
local function finish(r, log, who, status, error_json, reason, code)
  close_calls(log, who, code)
  take_in_results()
  if r.output then log.write('', with_json(own_chunk(who, 'output', {}), 'output', r.output)) end
  local failure
  if status == 'interrupted' then
    log.write('', own_chunk(who, 'run_interrupted', {
      runId = r.run, checkpointId = r.checkpoint or cjson.null, reason = reason,
    }))
  elseif status == 'failed' or status == 'aborted' then
    local e = { code = 'framework_cancelled', message = 'The run was aborted.', retryable = false }
    if error_json ~= '' then e = cjson.decode(error_json) end
    failure = e.message
    log.write('', own_chunk(who, 'error', {
      error = e.message, code = e.code, recoverable = false,
      errorDetail = { message = e.message, code = e.code, retryable = e.retryable },
    }))
  end
  log.control(with_json(cjson.encode({
    type = 'stream_end', streamId = who.agentId, timestamp = who.now, status = status, error = failure,
  }), 'finalOutput', r.output))
  local stream = (status == 'failed' or status == 'aborted') and 'failed' or 'ended'
  redis.call('HSET', K.root, 'status', status, 'stream', stream, 'updated', string.format('%d', who.now))
  if error_json ~= '' then redis.call('HSET', K.root, 'error', error_json) end
  if status == 'interrupted' or status == 'aborted' then
    local stop = r.stop and cjson.decode(r.stop) or {}
    redis.call('HSET', K.root, 'interrupted', cjson.encode({
      runId = r.run, mode = status == 'aborted' and 'abort' or 'interrupt', reason = reason, by = stop.by,
      at = who.now, checkpointId = r.checkpoint or cjson.null,
    }))
  end
  redis.call('HDEL', K.root, 'stop', 'resume', 'taken', 'deadline')
  redis.call('DEL', K.busy, K.writers)
  redis.call('HSET', K.runs, r.run, with_json(cjson.encode({
    runId = r.run, turn = tonumber(r.turn), status = status, stepCount = tonumber(r.committed),
    startSequence = tonumber(r.turnSeq), startedAt = tonumber(r.started), endedAt = who.now,
    usage = r.usage, finishReason = r.finishReason,
  }), 'output', r.output))
  arm_expiry(true)
end
