import type { FileUIPart } from 'ai';
import type { ReactElement } from 'react';
import { parseFileUrl } from '../../protocol/ids.js';

/** Shows an image that the message itself contains; any other file is a link. */
export function FileView({ file }: { file: FileUIPart }): ReactElement {
  const { url, mediaType, filename = 'File' } = file;
  const isOwn = parseFileUrl(url) !== undefined;
  if (!isOwn && !/^(data:|https?:)/i.test(url)) return <span className="file">{filename}</span>;
  if ((isOwn || url.startsWith('data:')) && /^image\/(png|jpeg|gif|webp)$/.test(mediaType)) {
    return <img className="file" src={url} alt={filename} />;
  }
  return (
    <a className="file" href={url} download={filename} target="_blank" rel="noreferrer noopener">
      {filename}
    </a>
  );
}
