--[[ stop: leaves a stop record and tells the workers; a run in which no model speaks ends at once.
     Given to a sub-agent it stops the conversation.
     ARGV 1 sessionId  2 run or ''  3 mode  4 stop record  5 now
     -> NOTHING | STOPPING run | ENDED run ]]
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
if not r.stop or ARGV[3] == 'abort' then
  redis.call('HSET', K.root, 'stop', ARGV[4])
  r.stop = ARGV[4]
end
redis.call('SPUBLISH', K.stop, r.run)
if redis.call('SISMEMBER', K.busy, 'model') == 1 then return { 'STOPPING', r.run } end
local log = open_session_log(r)
local stop = cjson.decode(r.stop)
finish(r, log, who, stop.mode == 'abort' and 'aborted' or 'interrupted', '', stop.reason, 'run_stopped')
log.close()
return { 'ENDED', r.run }
