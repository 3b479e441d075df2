// Asks a Temporal server one question over plain gRPC, without any package: the engines are
// waited for before anything else runs, and a gRPC library would stay in memory.
import { connect, constants } from 'node:http2';

const DESCRIBE_NAMESPACE = '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace';

/** True when the server at `host:port` answers and knows the namespace. Never throws. */
export function hasNamespace(address, namespace, { timeoutMs = 2000 } = {}) {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const finish = (answer) => {
      clearTimeout(timer);
      session.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    session.on('error', () => finish(false));

    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: DESCRIBE_NAMESPACE,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', () => finish(false));
    // A refusal comes as headers alone, an answer ends with trailers: the status is in either.
    const read = (headers) => {
      if ('grpc-status' in headers) finish(headers['grpc-status'] === '0');
    };
    call.on('response', read).on('trailers', read).resume();
    call.end(frame(namespace));
  });
}

/** gRPC frame (uncompressed, length) around the message: field 1, a string. */
function frame(namespace) {
  const name = Buffer.from(namespace);
  if (name.length > 127) throw new Error('a namespace has at most 127 characters here');
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}
