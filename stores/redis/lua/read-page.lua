--[[ read-page: entries of a log after a position, as one string: a client takes far longer over a
     nested reply than Redis takes to join it.
     KEYS 1 stream  2 root
     ARGV 1 sequence (exclusive)  2 limit
     -> lines sequence server
        lines: id, writer and message of each entry, in turn. What is stored as JSON has no line breaks,
        so anything else shows in the ids.
        sequence: that of the stream, '0' if there is none
        server: identifies the run of the server's process, '' if the caller may not know ]]
local lines, n = {}, 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])) do
  lines[n + 1], lines[n + 2], lines[n + 3] = entry[1], entry[2][2] or '', entry[2][4] or ''
  n = n + 3
end
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and info:match('run_id:(%x+)') or ''
return { table.concat(lines, '\n'), redis.call('HGET', KEYS[2], 'seq') or '0', server }
