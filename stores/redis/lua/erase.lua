--[[ erase: removes a session and its stream; readers see the end.
     ARGV 1 stream_end message
     -> ERASED | NOT_FOUND ]]
local r = root_table()
if not next(r) then return { 'NOT_FOUND' } end
local log = open_session_log(r)
log.control(ARGV[1])
log.close()
if r.run then redis.call('SPUBLISH', K.stop, r.run) end
for _, part in ipairs(redis.call('HKEYS', K.children)) do
  in_session(part, function()
    for _, name in ipairs(NAMES) do
      if not SHARED[name] then redis.call('DEL', K[name]) end
    end
  end)
end
for i = 1, STORED do redis.call('DEL', KEYS[i]) end
return { 'ERASED' }
