import { HelixError } from '../../protocol/errors.js';

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/**
 * Returns a file as a data URL. Pure.
 *
 * @throws HelixError `validation_error` for a type that is not a media type and could alter the URL
 */
export function toDataUrl(mediaType: string, base64: string): string {
  if (MEDIA_TYPE.test(mediaType)) return `data:${mediaType};base64,${base64}`;
  throw new HelixError('validation_error', 'The type of a file is not a media type.');
}
