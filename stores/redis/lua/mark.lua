--[[ mark: pauses, resumes or ends a stream that no run owns. The first end counts.
     ARGV 1 status: active | paused | ended | failed  2 control message  3 error or ''  4 now
     -> MARKED | UNCHANGED | OWNED | NOT_FOUND ]]
local to = ARGV[1]
local r = root_table()
if not r.stream then return { 'NOT_FOUND' } end
if r.status and not TERMINAL[r.status] then return { 'OWNED' } end
local over = r.stream == 'ended' or r.stream == 'failed'
if over or r.stream == to then return { 'UNCHANGED' } end
local log = open_session_log(r)
log.control(ARGV[2])
log.close('stream', to, 'updated', ARGV[4])
if to == 'ended' or to == 'failed' then
  if ARGV[3] ~= '' then redis.call('HSET', K.root, 'streamError', ARGV[3]) end
  redis.call('DEL', K.writers)
  arm_expiry(r.agent ~= nil)
end
return { 'MARKED' }
