-- What attempts wrote, and how it is withdrawn.

-- Removes a writer's entries after a sequence; returns how many there were.
local function remove_entries(sequence, writer)
  local removed, after = 0, string.format('%d', sequence)
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. after .. '-0', '+')) do
    if entry[2][2] == writer then
      redis.call('XDEL', K.stream, entry[1])
      removed = removed + 1
    end
  end
  return removed
end

-- Removes a writer's entries since its claim; returns how many there were.
local function withdraw(writer)
  local first = redis.call('HGET', K.writers, 'f:' .. writer)
  return first and remove_entries(tonumber(first), writer) or 0
end

-- Makes an attempt the owner of its writer name.
local function own_writer(writer, token, seq)
  redis.call('HSET', K.writers, 't:' .. writer, token, 'b:' .. writer, 0, 's:' .. writer, 0,
    'f:' .. writer, string.format('%d', seq))
end

local function release_writer(writer)
  redis.call('HDEL', K.writers, 't:' .. writer, 'b:' .. writer, 's:' .. writer, 'f:' .. writer, 'n:' .. writer)
end

-- Tells viewers that part of what they saw is gone; of one call only, if it is named.
local function tell_of_withdrawal(r, log, who, id)
  log.write('', own_chunk(who, 'stream_resync', {
    checkpointId = r.checkpoint or '', stepCount = tonumber(r.committed or '0'),
    messageCount = redis.call('LLEN', K.rows), fromSequence = log.seq, reason = 'crash_recovery', toolCallId = id,
  }))
end

-- Keeps what a call wants changed in the agent's own state; its earlier changes are replaced.
local function stage_changes(step_id, id, changes)
  local n = redis.call('HINCRBY', K.staged, 'n', 1)
  redis.call('HSET', K.staged, step_id .. '/' .. id, string.format('%d', n) .. ' ' .. changes)
end

-- Withdraws an attempt and tells viewers.
local function discard_attempt(r, log, who, writer, reason)
  local removed = withdraw(writer)
  log.write('', own_chunk(who, 'step_discarded', {
    runId = r.run or '', stepId = 's' .. string.format('%d', who.step), reason = reason,
  }))
  if removed > 0 then tell_of_withdrawal(r, log, who) end
end
