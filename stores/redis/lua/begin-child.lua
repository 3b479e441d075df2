--[[ begin child: makes the session of a sub-agent from the call that it carries out; its input comes
     from nowhere else. KEYS are the sub-agent's.
     ARGV 1 run  2 agent  3 part of the parent's session id behind the conversation's, or ''  4 parent's run
          5 toolCallId  6 now  7 most sub-agents of a run of the conversation
     -> BEGUN | LIMIT             begun before: the same again
        SUPERSEDED                the parent's run has ended or another one owns its session
        REFUSED                   no such call, or not this sub-agent's ]]
local run, agent, parent, id, now = ARGV[1], ARGV[2], ARGV[3], ARGV[5], tonumber(ARGV[6])
local own = root_table()
if own.run == run then return { own.limit and 'LIMIT' or 'BEGUN' } end
local above = in_session(parent, function()
  local p = root_table()
  p.state, p.child, p.brief = call_field(id, 'state'), call_field(id, 'child'), call_field(id, 'brief')
  p.spec = call_field(id, 'spec')
  return p
end)
if above.run ~= ARGV[4] or TERMINAL[above.status] then return { 'SUPERSEDED' } end
if above.state ~= 'open' or above.child ~= own_part() then return { 'REFUSED' } end
local child = cjson.decode(above.spec).child
if child.runId ~= run or child.agent ~= agent then return { 'REFUSED' } end

local t = redis.call('HMGET', T.root, 'run', 'owner', 'tenant', 'seq', 'children')
local over = tonumber(t[5] or '0') >= tonumber(ARGV[7])
redis.call('HSET', K.root, 'agent', agent, 'owner', t[2], 'tenant', t[3] or '', 'created', ARGV[6], 'born', run,
  'run', run, 'runN', 1, 'turn', 1, 'status', over and 'failed' or 'starting', 'messageId', '', 'turnSeq', t[4],
  'turnRow', 0, 'uiCount', 1, 'pauseSeq', t[4], 'claimed', 0, 'committed', 0, 'started', ARGV[6], 'updated', ARGV[6],
  'mode', 'new', 'runSeq', t[4], 'fromStep', 0,
  'parent', parent, 'parentRun', ARGV[4], 'parentCall', id, 'rootRun', t[1])
redis.call('RPUSH', K.rows, above.brief)
redis.call('HSET', T.children, own_part(), t[1])
if over then
  redis.call('HSET', K.root, 'limit', 1, 'error', cjson.encode({
    code = 'subagent_limit', message = 'Too many sub-agents were started.', retryable = false,
  }))
  return { 'LIMIT' }
end
redis.call('HINCRBY', T.root, 'children', 1)
local log = open_session_log(root_table())
local speaker = parent == '' and CONVERSATION or CONVERSATION .. '.' .. parent
log.write('', own_chunk({
  agentId = speaker, agentType = above.agent, step = tonumber(above.committed), now = now,
}, 'subagent_start', {
  subAgentType = agent, subSessionId = CONVERSATION .. '.' .. own_part(), callId = id,
}))
log.close('updated', ARGV[6])
return { 'BEGUN' }
