import { HelixError } from '../../protocol/errors.js';

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/**
 * A file as the address that messages have for it. Pure.
 *
 * @throws HelixError `validation_error` for a type that would change what the address says
 */
export function toDataUrl(mediaType: string, base64: string): string {
  if (MEDIA_TYPE.test(mediaType)) return `data:${mediaType};base64,${base64}`;
  throw new HelixError('validation_error', 'The type of a file is not a media type.');
}
