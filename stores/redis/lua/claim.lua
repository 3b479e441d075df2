--[[ claim: makes a model writer the owner of its step; withdraws what earlier attempts left.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now
     -> DONE outcome status    committed before (the newest step's outcome)
        STOPPED stop | SUPERSEDED | FENCED | NOT_READY
        CLAIMED rowCount sequence failures messageId ]]
local run, writer, token, step = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[6])
local who = { agentId = ARGV[1], agentType = ARGV[5], step = step, now = tonumber(ARGV[7]) }
local r = root_table()
if r.run ~= run then return { 'SUPERSEDED' } end
local committed = tonumber(r.committed)
if committed >= step then return { 'DONE', r.outcome, r.status } end
if TERMINAL[r.status] then return { 'SUPERSEDED' } end
if r.stop then return { 'STOPPED', r.stop } end
local owner = tonumber(redis.call('HGET', K.writers, 't:' .. writer) or '0')
if owner > token then return { 'FENCED' } end
if committed ~= step - 1 or has_unsettled() then return { 'NOT_READY' } end

local log = open_session_log(r)
if owner < token then
  take_in_results()
  if owner > 0 then discard_attempt(r, log, who, writer, 'attempt_lost') end
  log.close()
  redis.call('HSET', K.writers, 't:' .. writer, ARGV[4], 'b:' .. writer, 0, 's:' .. writer, 0,
    'f:' .. writer, string.format('%d', log.seq))
  redis.call('SADD', K.busy, 'model')
  redis.call('HSET', K.root, 'status', 'running', 'stream', 'active', 'claimed', step, 'updated', ARGV[7])
  redis.call('HDEL', K.root, 'resume', 'taken')
end
local failures = tonumber(redis.call('HGET', K.writers, 'fails:' .. ARGV[6]) or '0')
return { 'CLAIMED', redis.call('LLEN', K.rows), log.seq, failures, r.messageId }
