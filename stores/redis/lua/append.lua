--[[ append: adds chunks under a claim. The hot path: one call for everything that came meanwhile.
     KEYS 1 root  2 stream  3 writers  4 channel
     ARGV 1 run  2 writer  3 token  4 batch  5 now  6.. chunks
     -> 1 sequence stop    stop is 1 if the run is to stop; a batch seen before gives its first reply
        2                  fenced: another attempt owns the writer
        3                  superseded: the run has ended or another one owns the session ]]
local root, stream, writers, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local writer, batch = ARGV[2], tonumber(ARGV[4])
local r = redis.call('HMGET', root, 'run', 'status', 'stop', 'seq')
local w = redis.call('HMGET', writers, 't:' .. writer, 'b:' .. writer, 's:' .. writer)
local stop = r[3] and 1 or 0
if w[1] == ARGV[3] and tonumber(w[2]) >= batch then return { 1, tonumber(w[3]), stop } end
if r[1] ~= ARGV[1] or TERMINAL[r[2]] then return { 3 } end
if w[1] ~= ARGV[3] then return { 2 } end
local log = open_log(root, stream, channel, tonumber(r[4]))
for i = 6, #ARGV do log.write(writer, ARGV[i]) end
log.close()
redis.call('HSET', writers, 'b:' .. writer, ARGV[4], 's:' .. writer, string.format('%d', log.seq))
redis.call('HSET', root, 'updated', ARGV[5])
return { 1, log.seq, stop }
