--[[ What the transitions share. Keys of a session, in this order in every script but append:
     1 root  2 stream  3 rows  4 calls  5 order  6 busy  7 writers  8 messages  9 runs
     10 checkpoints  11 settled  12 channel  13 stop channel
     root: hash, the session and its newest run. calls: hash of <field>:<toolCallId> for the calls of
     the newest committed step. order: their ids. busy: what can still progress without a person.
     writers: hash of t: token, b: batch, s: sequence of that batch, f: sequence before its first
     entry, per writer; fails:<step>. settled: ids of all calls ever taken in. ]]
local K = {
  root = KEYS[1], stream = KEYS[2], rows = KEYS[3], calls = KEYS[4], order = KEYS[5], busy = KEYS[6],
  writers = KEYS[7], messages = KEYS[8], runs = KEYS[9], checkpoints = KEYS[10], settled = KEYS[11],
  channel = KEYS[12], stop = KEYS[13],
}
local CALL_FIELDS = { 'state:', 'name:', 'kind:', 'spec:', 'row:', 'decision:', 'asked:', 'again:', 'n:' }
local STREAM_TTL_SECONDS = 86400

local CODE_TEXT = {
  run_stopped = 'The run was stopped before this call was carried out.',
  run_failed = 'The run failed before this call was carried out.',
  client_tool_abandoned = 'The user went on without answering this call.',
  tool_outcome_unknown = 'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
}

local function root_table()
  local flat, r = redis.call('HGETALL', K.root), {}
  for i = 1, #flat, 2 do r[flat[i]] = flat[i + 1] end
  return r
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
  local decision = call_field(id, 'decision')
  settle_row(id, cjson.encode({
    role = 'tool', toolCallId = id, toolName = name, error = CODE_TEXT[code], errorCode = code,
    decision = decision and cjson.decode(decision) or nil,
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
    for _, field in ipairs(CALL_FIELDS) do redis.call('HDEL', K.calls, field .. id) end
    redis.call('SADD', K.settled, id)
  end
  redis.call('DEL', K.order)
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

-- Withdraws an attempt and tells viewers.
local function discard_attempt(r, log, who, writer, reason)
  local removed = withdraw(writer)
  log.write('', own_chunk(who, 'step_discarded', {
    runId = r.run, stepId = 's' .. string.format('%d', who.step), reason = reason,
  }))
  if removed > 0 then
    log.write('', own_chunk(who, 'stream_resync', {
      checkpointId = r.checkpoint or '', stepCount = tonumber(r.committed or '0'),
      messageCount = redis.call('LLEN', K.rows), fromSequence = log.seq, reason = 'crash_recovery',
    }))
  end
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
  log.write('', own_chunk(who, 'run_paused', {
    runId = r.run, reason = approval and 'approval' or 'client_tool',
    pendingToolName = call_field(waiting[1], 'name'), pendingToolCallId = waiting[1],
  }))
  for _, id in ipairs(waiting) do
    redis.call('HSET', K.calls, 'asked:' .. id, string.format('%d', log.seq))
  end
  redis.call('HSET', K.root, 'status', approval and 'waiting_approval' or 'waiting_tool',
    'stream', 'paused', 'pauseSeq', string.format('%d', log.seq))
  return true
end

-- The end of a run: run, session and stream become terminal together, expiry is armed.
local function finish(r, log, who, status, error_json, reason, code)
  close_calls(log, who, code)
  take_in_results()
  if status == 'interrupted' then
    log.write('', own_chunk(who, 'run_interrupted', {
      runId = r.run, checkpointId = r.checkpoint or cjson.null, reason = reason,
    }))
  elseif status == 'failed' or status == 'aborted' then
    local e = { code = 'framework_cancelled', message = 'The run was aborted.', retryable = false }
    if error_json ~= '' then e = cjson.decode(error_json) end
    log.write('', own_chunk(who, 'error', { error = e.message, code = e.code, recoverable = false }))
  end
  log.write('', cjson.encode({
    type = 'stream_end', streamId = who.agentId, timestamp = who.now, status = status,
  }))
  local stream = (status == 'failed' or status == 'aborted') and 'failed' or 'ended'
  redis.call('HSET', K.root, 'status', status, 'stream', stream, 'updated', string.format('%d', who.now))
  if error_json ~= '' then redis.call('HSET', K.root, 'error', error_json) end
  redis.call('HDEL', K.root, 'stop', 'resume', 'taken')
  redis.call('DEL', K.busy, K.writers)
  redis.call('HSET', K.runs, r.run, cjson.encode({
    runId = r.run, turn = tonumber(r.turn), status = status, startedAt = tonumber(r.started), endedAt = who.now,
  }))
  redis.call('EXPIRE', K.stream, STREAM_TTL_SECONDS)
end
