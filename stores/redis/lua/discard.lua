--[[ discard: withdraws what this attempt wrote, and counts a failure of the provider.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now  8 reason
          9 try: which failure of this step it is, from 1  10 usage, as in add_usage
     -> DISCARDED failures | SUPERSEDED | FENCED ]]
local run, writer = ARGV[2], ARGV[3]
local who = { agentId = ARGV[1], agentType = ARGV[5], step = tonumber(ARGV[6]), now = tonumber(ARGV[7]) }
local r = root_table()
local failed = 'fails:' .. ARGV[6]
local failures = tonumber(redis.call('HGET', K.writers, failed) or '0')
if failures >= tonumber(ARGV[9]) then return { 'DISCARDED', failures } end
if r.run ~= run or TERMINAL[r.status] then return { 'SUPERSEDED' } end
if redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] then return { 'FENCED' } end
local log = open_session_log(r)
discard_attempt(r, log, who, writer, ARGV[8])
log.close()
add_usage(ARGV[10])
redis.call('HSET', K.writers, 'f:' .. writer, string.format('%d', log.seq))
return { 'DISCARDED', redis.call('HINCRBY', K.writers, failed, 1) }
