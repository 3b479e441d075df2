-- Beginnings and ends of runs.

-- How the run of this session ended; nothing of it is at work any more.
local function close_run(r, who, status, error_json, reason)
  redis.call('HSET', K.root, 'status', status, 'updated', string.format('%d', who.now))
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
  redis.call('HSET', K.runs, r.run, with_json(with_json(cjson.encode({
    runId = r.run, turn = tonumber(r.turn), status = status, stepCount = tonumber(r.committed),
    startSequence = tonumber(r.turnSeq), startedAt = tonumber(r.started), endedAt = who.now,
    usage = redis.call('HGET', K.root, 'usage') or nil, finishReason = r.finishReason, mode = r.mode, by = r.by ~= '' and r.by or nil,
    reason = status == 'interrupted' and reason or nil,
    startRow = tonumber(r.turnRow), messageId = r.messageId,
  }), 'output', r.output), 'error', error_json ~= '' and error_json))
end

-- Leaves a stop record and tells the workers; true if a model speaks, which then ends the run.
local function request_stop(r, mode, record)
  if not r.stop or mode == 'abort' then
    redis.call('HSET', K.root, 'stop', record)
    r.stop = record
  end
  redis.call('SPUBLISH', K.stop, r.run)
  return redis.call('SISMEMBER', K.busy, 'model') == 1
end

-- Makes a run the session's newest, at work from here on; what belonged to the run before is forgotten.
-- run = { id, n, mode, by, turn, message, turnSeq, turnRow, seq: before its first entry, step: the last
-- one of its turn that is committed }; seq: of the newest entry.
local function start_run(run, seq, now)
  keep_for_ever()
  redis.call('DEL', K.busy, K.writers, K.order)
  redis.call('HDEL', K.root, 'stop', 'error', 'streamError', 'interrupted', 'resume', 'taken', 'snapTurn',
    'snapAt', 'usage', 'finishReason', 'output', 'children')
  local at = string.format('%d', seq)
  redis.call('HSET', K.root, 'run', run.id, 'runN', run.n, 'mode', run.mode, 'by', run.by, 'turn', run.turn,
    'status', 'starting', 'stream', 'active', 'messageId', run.message, 'turnSeq', string.format('%d', run.turnSeq),
    'turnRow', run.turnRow, 'runSeq', string.format('%d', run.seq), 'fromStep', run.step, 'outcome', '',
    'seq', at, 'pauseSeq', string.format('%d', run.seq), 'claimed', run.step, 'committed', run.step, 'started', now, 'updated', now)
end

-- What callers are told of the newest run: run, agent, turn, id of its message, sequence before the
-- turn, step behind which the run goes on, sequence before the run, when it began.
local function newest_run()
  return redis.call('HMGET', K.root, 'run', 'agent', 'turn', 'messageId', 'turnSeq', 'fromStep', 'runSeq', 'started')
end

-- Id of the session's next run, and its number.
local function next_run(r, sessionId, nonce)
  local n = tonumber(r.runN or '0') + 1
  return sessionId .. ':' .. string.format('%d', n) .. '-' .. nonce, n
end

-- The end of a run: run, session and stream become terminal together, expiry is armed. Sub-agents
-- at work end with it; the end of one is told by what becomes of its parent's call.
local function finish(r, log, who, status, error_json, reason, code)
  local own, below = K.root, {}
  walk(function()
    if K.root ~= own then table.insert(below, 1, own_part()) end
  end)
  for _, part in ipairs(below) do
    in_session(part, function()
      local c = root_table()
      local speaker = { agentId = CONVERSATION .. '.' .. part, agentType = c.agent, step = tonumber(c.committed), now = who.now }
      close_calls(log, speaker, code)
      take_in_results()
      close_run(c, speaker, status == 'completed' and 'interrupted' or status, '', reason)
      redis.call('HDEL', T.root, 'wake:' .. part)
    end)
  end
  close_calls(log, who, code)
  take_in_results()
  local place = {
    role = 'assistant', display = true, messageId = r.messageId, runId = r.run, step = tonumber(r.committed),
  }
  if r.output then
    log.write('', with_json(own_chunk(who, 'output', {}), 'output', r.output))
    redis.call('RPUSH', K.rows, with_json(cjson.encode(place), 'parts', '[],"output":' .. r.output))
  end
  if K.root ~= T.root then
    redis.call('HDEL', T.root, 'wake:' .. own_part())
    close_run(r, who, status, error_json, reason)
    note_deadline()
    return
  end
  -- A turn that was stopped before its first word is a message as well, also when others follow it.
  if status == 'interrupted' and redis.call('HGET', K.root, 'replied') ~= r.turn then
    push_reply(r, with_json(cjson.encode(place), 'parts', '[]'))
  end
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
  redis.call('HSET', K.root, 'stream', stream)
  close_run(r, who, status, error_json, reason)
  -- Steering that came too late waits for a turn of its own.
  for at, json in ipairs(redis.call('LRANGE', K.queue, 0, -1)) do
    local entry = cjson.decode(json)
    if entry.mode == 'steer' then
      entry.mode = 'queue'
      redis.call('LSET', K.queue, at - 1, cjson.encode(entry))
    end
  end
  if redis.call('LLEN', K.queue) == 0 then arm_expiry(true) end
end

-- Ends a run as its stop record says.
local function finish_stopped(r, log, who)
  local stop = cjson.decode(r.stop)
  finish(r, log, who, stop.mode == 'abort' and 'aborted' or 'interrupted', '', stop.reason, 'run_stopped')
end

-- Makes a turn and its run for user messages. new = {sessionId, agent, nonce, now, cap, messages, waited,
-- mode and by: of a run that was asked for to go on after one that has ended}
local function make_run(r, log, new)
  local run, n = next_run(r, new.sessionId, new.nonce)
  local turn, mode = tonumber(r.turn or '0') + 1, new.mode or 'new'
  take_in_notices()
  local first, ui = store_messages(new.messages)
  if new.cap > 0 and redis.call('XLEN', K.stream) > new.cap then
    -- Whole old turns only; the turn before this one stays, somebody may be reading its end.
    trim_log(tonumber(r.turnSeq or '0'))
  end
  recount_controls()
  local start, message = log.seq, 'msg-' .. string.format('%d', ui)
  local who = { agentId = new.sessionId, agentType = new.agent, step = 0, now = tonumber(new.now) }
  if new.waited then
    log.write('', own_chunk(who, 'turn_started', {
      runId = run, messageId = message, messageIds = ids_of(new.messages), reason = 'queue',
    }))
  end
  if mode == 'with_message' then
    log.write('', own_chunk(who, 'run_resumed', {
      runId = run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = tonumber(r.committed or '0'),
      mode = mode,
    }))
  end
  log.close()
  start_run({
    id = run, n = n, mode = mode, by = new.by or '', turn = turn, message = message, turnSeq = start, turnRow = first,
    seq = start, step = 0,
  }, log.seq, new.now)
  return run, turn, message, start
end
