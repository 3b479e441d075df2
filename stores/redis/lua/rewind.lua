--[[ rewind: takes the session back to a checkpoint, or to the beginning of a turn, and makes the run that
     goes on from there. What comes later is dropped: rows, checkpoints, changes of the state, entries.
     ARGV 1 sessionId  2 run that is expected to be the newest  3 nonce  4 now  5 mode: retry | from_checkpoint
          6 who asked, or ''  7 checkpointId, or ''  8 id of a message of the turn, or '' for the newest turn
          9 how many messages take the place of that one, a user's, and of all behind it; then per message:
          id, hash, row, '1' if hidden
     -> { REWOUND, see newest_run }
        BUSY run | STALE run | CHECKPOINT | MESSAGE | NOT_FOUND    no such checkpoint, message, session
        CONFLICT messageId                                         another message of that id stays ]]
local sessionId, nonce, now, mode = ARGV[1], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local r = root_table()
if not r.agent then return { 'NOT_FOUND' } end
local run, n = next_run(r, sessionId, nonce)
if r.run == sessionId .. ':' .. r.runN .. '-' .. nonce then return { 'REWOUND', unpack(newest_run()) } end
if not TERMINAL[r.status] then return { 'BUSY', r.run } end
if r.run ~= ARGV[2] then return { 'STALE', r.run } end

local rows = redis.call('LRANGE', K.rows, 0, -1)
for i, row in ipairs(rows) do rows[i] = cjson.decode(row) end
local checkpoints = redis.call('LRANGE', K.checkpoints, 0, -1)
for i, checkpoint in ipairs(checkpoints) do checkpoints[i] = cjson.decode(checkpoint) end
local turn_of = turns_of(r, rows, checkpoints)
local edited = {}
for i = 0, tonumber(ARGV[9]) - 1 do
  local at = 10 + i * 4
  edited[i + 1] = { id = ARGV[at], hash = ARGV[at + 1], row = ARGV[at + 2], hidden = ARGV[at + 3] == '1' }
end

-- How much stays: rows, checkpoints, and entries up to a sequence; behind which step of which turn.
local turn, keep, kept, sequence, step
if mode == 'retry' then
  local at = tonumber(r.turnRow)
  if ARGV[8] ~= '' then
    at = nil
    for i, row in ipairs(rows) do
      if (row.role == 'user' and row.id or row.messageId) == ARGV[8] then at = i - 1 end
    end
    if not at then return { 'MESSAGE' } end
  end
  turn = turn_of(at)
  keep, kept, sequence, step = turn.row + 1, 0, turn.seq, 0
  while rows[keep + 1] and rows[keep + 1].role == 'user' and not turn.others[keep] do keep = keep + 1 end
  if #edited > 0 then
    if rows[at + 1].role ~= 'user' then return { 'MESSAGE' } end
    keep = at
  end
  for i, checkpoint in ipairs(checkpoints) do
    if checkpoint.messageCount <= turn.row then kept = i end
  end
else
  for i, checkpoint in ipairs(checkpoints) do
    if checkpoint.id == ARGV[7] then kept = i end
  end
  if not kept then return { 'CHECKPOINT' } end
  local checkpoint = checkpoints[kept]
  turn = turn_of(checkpoint.messageCount - 1)
  keep, step = checkpoint.messageCount, checkpoint.stepCount
  -- The step's results follow it, in the transcript and in the log.
  while rows[keep + 1] and (rows[keep + 1].role == 'tool' or rows[keep + 1].display) do keep = keep + 1 end
  sequence = end_of_step(sessionId, step, checkpoint.streamSequence)
end

local dropped = {}
for i = keep + 1, #rows do
  if rows[i].role == 'user' then dropped[rows[i].id] = true end
end
for _, message in ipairs(edited) do
  if not dropped[message.id] and redis.call('HEXISTS', K.messages, message.id) == 1 then
    return { 'CONFLICT', message.id }
  end
end

-- Messages and calls of dropped rows; what people see of the rest.
local shown, here = tonumber(redis.call('HGET', K.root, 'uiCount')), {}
for i = turn.row + 1, keep do
  if rows[i].role == 'assistant' then
    here[rows[i].messageId] = true
    turn.message = turn.message or rows[i].messageId
  end
end
local replied, calls = next(here) ~= nil, {}
for i = 1, keep do
  if rows[i].role == 'tool' then calls[rows[i].toolCallId] = true end
end
for i = keep + 1, #rows do
  local row = rows[i]
  if row.role == 'user' then
    redis.call('HDEL', K.messages, row.id)
    if not row.hidden then shown = shown - 1 end
  elseif row.role == 'assistant' and not here[row.messageId] then
    here[row.messageId] = true
    shown = shown - 1
  elseif row.role == 'tool' then
    redis.call('HDEL', K.results, row.toolCallId)
    forget_lapsed(row.toolCallId)
  end
end
if keep > 0 then redis.call('LTRIM', K.rows, 0, keep - 1) else redis.call('DEL', K.rows) end
for _, id in ipairs(redis.call('HKEYS', K.runs)) do
  local json = redis.call('HGET', K.runs, id)
  local ended = cjson.decode(json)
  local row = not ended.rewound and ended.startRow
  if row and (row > turn.row or (row == turn.row and mode == 'retry')) then
    redis.call('HSET', K.runs, id, with_json(json, 'rewound', 'true'))
  end
end

restore_state(r, checkpoints, kept, turn, calls)
redis.call('LTRIM', K.checkpoints, 0, kept - 1)
if kept == 0 then
  redis.call('DEL', K.checkpoints)
  redis.call('HDEL', K.root, 'checkpoint')
else
  redis.call('HSET', K.root, 'checkpoint', checkpoints[kept].id)
end
recount_controls()
remove_after(sequence)

redis.call('HSET', K.root, 'uiCount', shown)
for _, message in ipairs(edited) do redis.call('HSET', K.messages, message.id, message.hash) end
shown = select(2, store_messages(edited))
keep = keep + #edited

local log = open_session_log(r)
local who = { agentId = sessionId, agentType = r.agent, step = step, now = now }
local checkpointId = kept > 0 and checkpoints[kept].id or nil
log.write('', own_chunk(who, 'stream_resync', {
  checkpointId = checkpointId or '', stepCount = step, messageCount = keep, fromSequence = log.seq,
  reason = mode == 'retry' and 'retry' or 'rollback',
}))
local runSeq = log.seq
if mode == 'from_checkpoint' then
  log.write('', own_chunk(who, 'run_resumed', {
    runId = run, fromCheckpointId = checkpointId, fromStepCount = step, mode = mode,
  }))
end
log.close()
redis.call('HSET', K.root, 'born', nonce, 'rewound', 1,
  'replied', replied and turn.turn or '')
start_run({
  id = run, n = n, mode = mode, by = ARGV[6], turn = turn.turn, turnRow = turn.row, seq = runSeq, step = step,
  message = mode == 'retry' and 'msg-' .. string.format('%d', shown) or turn.message or '',
  turnSeq = mode == 'retry' and runSeq or turn.seq,
}, log.seq, ARGV[4])
return { 'REWOUND', unpack(newest_run()) }
