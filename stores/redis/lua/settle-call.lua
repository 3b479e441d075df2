--[[ settle call: the one result of a call, or a person's decision about it; the first one wins.
     Answers are given to the conversation, whoever of its agents asked.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now  8 toolCallId
          9 source: tool | approval | client | expiry | child  10 row or ''  11 decision or ''
          12 '1' if approved  13 '1' if the row tells of an error
          14 the row's output if it is kept apart, or ''  15 what the model is told of a client's
          answer whose timeout it knows, or ''  16 changes to the agent's own state, or ''
          17 what the run came to, if this ends it, or ''  18 '1' if the call said something beside
          its result  19 chunk count, chunks
     -> STORED sequence resumption-or-'' others-or-''
          others: [{sessionId, runId, resume}]: other runs of the conversation that go on as well
        ALREADY | NOT_PENDING | KIND | STALE | FENCED | EXPIRED | LATE
        NOT_DUE ms-or-''    how long until the deadline, if there is one ]]
local run, writer, id, source = ARGV[2], ARGV[3], ARGV[8], ARGV[9]
find_owner(id)
local r = root_table()
local state, kind = call_field(id, 'state'), call_field(id, 'kind')
-- A client's result replaces its timeout until the model has been told of it; after that the model
-- is told of the result, once.
local timed_out = call_field(id, 'late') == '1'
local late = timed_out and source == 'client' and kind == 'client'
local lapsed = call_field(id, 'lapsed')
if source == 'client' and lapsed and (lapsed == 'told' or lapsed:find('^client ')) then
  if lapsed ~= 'told' then
    redis.call('HSET', K.calls, 'lapsed:' .. id, 'told')
    redis.call('RPUSH', K.notices, cjson.encode({
      role = 'user', id = 'late-' .. id, hidden = true,
      parts = { { type = 'text', text = late_text(id, lapsed:sub(8), ARGV[15]) } },
    }))
    expire_with_root()
  end
  return { 'LATE' }
end
local by_person = source == 'approval' or source == 'client'
local too_late = (timed_out and kind == 'approval') or (lapsed and lapsed:find('^approval '))
if by_person and too_late then return { 'EXPIRED' } end
if not late and (state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1) then return { 'ALREADY' } end
if not state then return { 'NOT_PENDING' } end
if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end
-- Nobody was asked yet.
if source ~= 'tool' and call_field(id, 'ask') then return { 'NOT_PENDING' } end
local deadline = tonumber(call_field(id, 'deadline') or 'inf')
if source == 'tool' then
  if redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] or state ~= 'started' then return { 'FENCED' } end
elseif source == 'child' then
  if kind ~= 'subagent' then return { 'KIND' } end
elseif kind ~= 'approval' and kind ~= 'client' then
  return { 'KIND' }
elseif source == 'approval' then
  if kind ~= 'approval' then return { 'KIND' } end
  if state ~= 'waiting' then return { 'ALREADY' } end
  if store_now() >= deadline then return { 'EXPIRED' } end
elseif source == 'client' then
  -- An approval may be answered with an error: then it is not carried out.
  if kind == 'approval' and ARGV[13] ~= '1' then return { 'KIND' } end
  if state ~= 'waiting' and not late then return { 'ALREADY' } end
else
  if state ~= 'waiting' then return { 'ALREADY' } end
  local left = deadline - store_now()
  if left > 0 then return { 'NOT_DUE', left < math.huge and left or '' } end
  redis.call('HSET', K.calls, 'late:' .. id, '1')
end

local now = tonumber(ARGV[7])
local log = open_session_log(r)
local part = source == 'child' and call_field(id, 'child')
if part then
  -- Nobody waits for it any more: a sub-agent that was lost ends with its call.
  in_session(part, function()
    local c = root_table()
    if not c.status or TERMINAL[c.status] then return end
    local speaker = { agentId = CONVERSATION .. '.' .. part, agentType = c.agent, step = tonumber(c.committed), now = now }
    finish(c, log, speaker, 'failed', '', nil, 'run_failed')
  end)
end
for i = 1, tonumber(ARGV[19]) do log.write(source == 'tool' and writer or '', ARGV[19 + i]) end
redis.call('HSET', K.root, 'updated', ARGV[7])
redis.call('HSET', T.root, 'updated', ARGV[7])
if ARGV[16] ~= '' then stage_changes('s' .. ARGV[6], id, ARGV[16]) end
if ARGV[17] ~= '' then redis.call('HSETNX', K.root, 'output', ARGV[17]) end
if ARGV[14] ~= '' then redis.call('HSET', K.results, id, ARGV[14]) end
if ARGV[11] ~= '' then redis.call('HSET', K.calls, 'decision:' .. id, ARGV[11]) end
if ARGV[12] == '1' then
  redis.call('HSET', K.calls, 'state:' .. id, 'approved')
else
  settle_row(id, ARGV[18] == '1' and with_events(id, ARGV[10]) or ARGV[10])
end
if source == 'client' then redis.call('HDEL', K.calls, 'late:' .. id) end

local resumption, others = '', ''
if source == 'child' and r.stream == 'paused' then
  -- The sub-agent was lost while it waited.
  resumption, others = resume_if_answered(log, now)
  if resumption == '' and not has_unsettled() then go_on_alone(log, now) end
  note_deadline()
elseif source == 'tool' or source == 'child' then
  rest_if_waiting(r, log, now)
elseif not late then
  resumption, others = resume_if_answered(log, now)
  note_deadline()
end
log.close()
return { 'STORED', log.seq, resumption, others }
