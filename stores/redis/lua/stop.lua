--[[ stop: leaves a stop record and tells the workers; a run in which no model speaks ends at once.
     Given to a sub-agent it stops the conversation.
     ARGV 1 sessionId  2 run or ''  3 mode  4 stop record  5 now
     -> NOTHING | STOPPING run
        ENDED run next    next is 1 if messages wait for their turn ]]
local r = root_table()
local wanted = ARGV[2]
if K.root ~= T.root then
  if not r.status or TERMINAL[r.status] or wanted ~= '' and wanted ~= r.run then return { 'NOTHING' } end
  K, wanted = T, ''
  r = root_table()
end
if not r.status or TERMINAL[r.status] then return { 'NOTHING' } end
if wanted ~= '' and wanted ~= r.run then return { 'NOTHING' } end
local who = { agentId = CONVERSATION, agentType = r.agent, step = tonumber(r.committed), now = tonumber(ARGV[5]) }
if request_stop(r, ARGV[3], ARGV[4]) then return { 'STOPPING', r.run } end
local log = open_session_log(r)
finish_stopped(r, log, who)
log.close()
return { 'ENDED', r.run, redis.call('LLEN', K.queue) > 0 and 1 or 0 }
