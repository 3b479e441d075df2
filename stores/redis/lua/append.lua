--[[ append: adds messages under a claim. The hot path: one call for everything that came meanwhile.
     KEYS 1 root  2 stream  3 writers  4 channel  5 root of the conversation, whose sequence all share
     ARGV 1 run, '*' for a writer of no run  2 writer  3 token  4 batch  5 now
          6 known: highest sequence that the writer was told  7.. messages
     -> 1 sequence stop    stop is 1 if the run is to stop; a batch seen before gives its first reply
        2                  fenced: another attempt owns the writer
        3                  superseded: the run has ended or another one owns the session
        4                  closed: the stream is paused
        5                  rewound: the store has less than the writer was told, or lost a batch of it ]]
local root, stream, writers, channel, tree = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local run, writer, batch = ARGV[1], ARGV[2], tonumber(ARGV[4])
local r = redis.call('HMGET', root, 'run', 'status', 'stop', 'seq', 'stream')
if tree ~= root then r[4] = redis.call('HGET', tree, 'seq') end
local w = redis.call('HMGET', writers, 't:' .. writer, 'b:' .. writer, 's:' .. writer)
local stop = r[3] and 1 or 0
if w[1] == ARGV[3] and tonumber(w[2]) >= batch then return { 1, tonumber(w[3]), stop } end
local seq = tonumber(r[4] or '0')
if seq < tonumber(ARGV[6]) then return { 5 } end
if run ~= '*' and (r[1] ~= run or TERMINAL[r[2]]) then return { 3 } end
if w[1] ~= ARGV[3] then return { 2 } end
if tonumber(w[2]) ~= batch - 1 then return { 5 } end
if run == '*' and r[5] == 'paused' then return { 4 } end
local log = open_log(tree, stream, channel, seq)
for i = 7, #ARGV do log.write(writer, ARGV[i]) end
log.close('updated', ARGV[5])
redis.call('HSET', writers, 'b:' .. writer, ARGV[4], 's:' .. writer, string.format('%d', log.seq))
return { 1, log.seq, stop }
