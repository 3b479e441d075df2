--[[ What takes a session back: parts of rewind. ]]

-- Sequence of the last entry that tells of a committed step: its calls' results come after the commit.
local function end_of_step(agentId, step, sequence)
  local last = sequence
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. string.format('%d', sequence) .. '-0', '+')) do
    local ok, message = pcall(cjson.decode, entry[2][4] or '')
    if not ok or type(message) ~= 'table' then return last end
    local ends = CONTROL[message.type] or message.type == 'run_interrupted' or message.type == 'error'
    -- A sub-agent counts steps of its own.
    if ends or (message.agentId == agentId and message.step ~= step) then return last end
    last = tonumber(entry[1]:match('^%d+'))
  end
  return last
end

-- Removes all entries after a sequence.
local function remove_after(sequence)
  local controls = 0
  for _, entry in ipairs(redis.call('XRANGE', K.stream, '(' .. string.format('%d', sequence) .. '-0', '+')) do
    if entry[2][2] == '' and is_control(entry[2][4]) then controls = controls + 1 end
    redis.call('XDEL', K.stream, entry[1])
  end
  redis.call('HINCRBY', K.root, 'controls', string.format('%d', -controls))
end

-- Gives the agent back the state that the first dropped step was asked with, under a version of its own,
-- and drops the states that only dropped steps had. checkpoints: all, of which so many are kept; turn: the
-- one that goes on; calls: ids of those that have a result.
local function restore_state(r, checkpoints, kept, turn, calls)
  local current = tonumber(r.stateV or '0')
  local named, dropped = {}, { [current] = true }
  for i, checkpoint in ipairs(checkpoints) do
    if i <= kept then named[checkpoint.stateVersion] = true else dropped[checkpoint.stateVersion] = true end
  end
  local first = checkpoints[kept + 1]
  if first and first.stateVersion ~= current then
    local version = string.format('%d', first.stateVersion)
    local state = first.stateVersion == 0 and '{}' or (redis.call('HGET', K.states, version) or '{}')
    current = current + 1
    redis.call('HSET', K.states, string.format('%d', current), state)
    redis.call('HSET', K.root, 'stateV', string.format('%d', current))
  end
  for version in pairs(dropped) do
    if not named[version] and version ~= current then
      redis.call('HDEL', K.states, string.format('%d', version))
    end
  end
  redis.call('HSET', K.root, 'checkpointV', kept > 0 and string.format('%d', checkpoints[kept].stateVersion) or '0')
  -- Changes that no step has taken in yet stay if their calls do.
  for _, field in ipairs(redis.call('HKEYS', K.staged)) do
    if field ~= 'n' and not calls[field:match('^[^/]*/(.*)$')] then redis.call('HDEL', K.staged, field) end
  end
  redis.call('HDEL', K.root, 'turnV')
  for i = kept, 1, -1 do
    if checkpoints[i].messageCount > turn.row then
      redis.call('HSET', K.root, 'turnV', string.format('%d %d', turn.turn, checkpoints[i].stateVersion))
    end
  end
end

-- What waits to be told of a call that is dropped, and what a late answer to it would be measured by.
local function forget_lapsed(id)
  redis.call('HDEL', K.calls, 'lapsed:' .. id)
  for _, json in ipairs(redis.call('LRANGE', K.notices, 0, -1)) do
    if cjson.decode(json).id == 'late-' .. id then redis.call('LREM', K.notices, 1, json) end
  end
end

-- Returns what finds the turn of a row (0-based): { row: its first, seq: before its first entry, turn,
-- message: id of its reply, others: first rows of turns }. The newest turn of each run is on record;
-- turns that were steered away from, and those of a copied session, are found by their messages.
local function turns_of(r, rows, checkpoints)
  local known = {}
  for _, json in ipairs(redis.call('HVALS', K.runs)) do
    local run = cjson.decode(json)
    if run.startRow and not run.rewound then
      known[run.startRow] = {
        row = run.startRow, seq = run.startSequence, turn = run.turn, message = run.messageId, others = known,
      }
    end
  end
  local newest = tonumber(r.turnRow)
  known[newest] = {
    row = newest, seq = tonumber(r.turnSeq), turn = tonumber(r.turn), message = r.messageId, others = known,
  }
  local function speaks(at)
    local row = rows[at + 1]
    -- Notices of late answers are no person's messages.
    return row and row.role == 'user' and not (row.hidden and row.id:sub(1, 5) == 'late-')
  end
  local function begins(at) return known[at] or (speaks(at) and not speaks(at - 1)) end
  return function(at)
    local first = at
    while first > 0 and not begins(first) do first = first - 1 end
    if known[first] then return known[first] end
    local before, n = first - 1, 1
    while before >= 0 and not known[before] do
      if begins(before) then n = n + 1 end
      before = before - 1
    end
    local seq = 0
    for _, checkpoint in ipairs(checkpoints) do
      if checkpoint.messageCount <= first then
        seq = end_of_step(CONVERSATION, checkpoint.stepCount, checkpoint.streamSequence)
      end
    end
    return { row = first, seq = seq, turn = n + (known[before] and known[before].turn or 0), others = known }
  end
end
