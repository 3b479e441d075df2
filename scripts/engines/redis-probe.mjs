import { connect } from 'node:net';

/** True when the Redis on this port has read its data and answers commands. Never throws. */
export function answersPing(port, host = '127.0.0.1', { timeoutMs = 1000 } = {}) {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const finish = (answer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('connect', () => socket.write('PING\r\n'));
    // While it still reads its file it says -LOADING instead.
    socket.on('data', (reply) => finish(reply.toString().startsWith('+PONG')));
  });
}
