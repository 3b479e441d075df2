--[[ start call: permission to execute a tool. A call that had started is not executed again unless
     the tool is idempotent: it is settled as tool_outcome_unknown.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now  8 toolCallId
     -> SETTLED | STOPPED | SUPERSEDED | FENCED | REFUSED
        EXECUTE spec execution decision-or-'' step-or-''
            step: of the conversation, where a sub-agent's call is shown in its message ]]
local run, writer, token, id = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[8]
local who = { agentId = ARGV[1], agentType = ARGV[5], step = tonumber(ARGV[6]), now = tonumber(ARGV[7]) }
local r = root_table()
local state = call_field(id, 'state')
if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'SETTLED' } end
if r.run ~= run or TERMINAL[r.status] then return { 'SUPERSEDED' } end
if r.stop then return { 'STOPPED' } end
local owner = tonumber(redis.call('HGET', K.writers, 't:' .. writer) or '0')
if owner > token then return { 'FENCED' } end
if state ~= 'open' and state ~= 'approved' and state ~= 'started' or call_field(id, 'kind') == 'subagent' then return { 'REFUSED' } end
-- The last answer of a batch releases what was approved; until then the run rests.
if state == 'approved' and redis.call('SISMEMBER', K.busy, id) == 0 then return { 'REFUSED' } end

if state == 'started' and owner < token then
  if call_field(id, 'again') ~= '1' then
    local log = open_session_log(r)
    settle_by_code(log, who, id, 'tool_outcome_unknown')
    -- The attempt that was lost may live: it has nothing more to say.
    release_writer(writer)
    rest_if_waiting(r, log, who.now)
    log.close()
    return { 'SETTLED' }
  end
  if withdraw(writer) > 0 then
    local log = open_session_log(r)
    tell_of_withdrawal(r, log, who, id)
    log.close()
    r.seq = log.seq
  end
end
if owner < token then
  own_writer(writer, ARGV[4], tonumber(r.seq))
  redis.call('HSET', K.calls, 'state:' .. id, 'started')
  redis.call('HINCRBY', K.calls, 'n:' .. id, 1)
  redis.call('HSET', K.root, 'updated', ARGV[7])
  if state == 'approved' then
    redis.call('HSET', K.root, 'taken', r.committed)
    redis.call('HDEL', T.root, 'wake:' .. own_part())
  end
end
local teller = teller_of(id, who)
local spec, decision = call_field(id, 'spec'), call_field(id, 'decision') or ''
return { 'EXECUTE', spec, tonumber(call_field(id, 'n')), decision, teller == who and '' or teller.step }
