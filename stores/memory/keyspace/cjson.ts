export { decode } from './cjson-decode.js';
export { encode } from './cjson-encode.js';
export { CJSON_NULL } from './cjson-null.js';
export { formatInt } from './format.js';
