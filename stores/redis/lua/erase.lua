--[[ erase: removes a session and its stream; readers see the end.
     ARGV 1 stream_end message
     -> ERASED | NOT_FOUND ]]
local r = root_table()
if not next(r) then return { 'NOT_FOUND' } end
local log = open_session_log(r)
log.control(ARGV[1])
log.close()
if r.run then redis.call('SPUBLISH', K.stop, r.run) end
for i = 1, STORED do redis.call('DEL', KEYS[i]) end
return { 'ERASED' }
