--[[ open writer: makes an attempt the owner of a writer name that belongs to no run; withdraws what
     lower attempts left. Creates the stream if there is none, opens one that has ended; that of a
     session is opened by its runs only.
     ARGV 1 streamId  2 agentId  3 writer  4 token  5 agentType  6 step  7 now
          8 nonce: tells a repeated call from a second writer of the same attempt
     -> OPENED sequence | FENCED | ENDED ]]
local writer, token = ARGV[3], tonumber(ARGV[4])
local who = { agentId = ARGV[2], agentType = ARGV[5], step = tonumber(ARGV[6]), now = tonumber(ARGV[7]) }
local r = root_table()
local owner = tonumber(redis.call('HGET', K.writers, 't:' .. writer) or '0')
if owner == token and redis.call('HGET', K.writers, 'n:' .. writer) == ARGV[8] then
  return { 'OPENED', tonumber(r.seq or '0') }
end
if owner >= token then return { 'FENCED' } end
local rests = r.stream ~= 'active' and r.stream ~= 'paused'
if rests and r.agent then return { 'ENDED' } end
local log = open_session_log(r)
if owner > 0 then discard_attempt(r, log, who, writer, 'attempt_lost') end
log.close()
own_writer(writer, ARGV[4], log.seq)
redis.call('HSET', K.writers, 'n:' .. writer, ARGV[8])
if rests then
  redis.call('HSET', K.root, 'stream', 'active', 'seq', string.format('%d', log.seq), 'updated', ARGV[7])
  redis.call('HDEL', K.root, 'streamError')
  recount_controls()
  keep_for_ever()
end
return { 'OPENED', log.seq }
