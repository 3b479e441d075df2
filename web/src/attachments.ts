import { generateId, type FileUIPart, type UIMessage } from 'ai';
import { parseFileUrl } from '../../protocol/ids.js';
import type { UploadedFile } from '../../protocol/replies.js';
import { chatUrl, Refusal, type Fetch, type PageConfig } from './api-client.js';
import type { Attachment, PageStore } from './page-store.js';

export interface AttachmentsDeps {
  sessionId: string;
  page: PageStore;
  send: Fetch;
  limits: PageConfig['files'];
}

/** Leaves time to upload a file of the largest size over a slow connection. */
const UPLOAD_WITHIN_MS = 5 * 60_000;
const UNREACHABLE = 'The server could not be reached.';

/** Files of the message in the composer; each is uploaded as soon as it is added. */
export class Attachments {
  readonly #deps: AttachmentsDeps;

  constructor(deps: AttachmentsDeps) {
    this.#deps = deps;
  }

  /** Media types for a file chooser; undefined if this server takes no files. */
  get accept(): string | undefined {
    return this.#deps.limits?.types.join(',');
  }

  readonly add = (files: readonly File[]): void => {
    for (const file of files) void this.#add(file);
  };

  readonly remove = (key: string): void => {
    const { page, send } = this.#deps;
    const { attachments } = page.get();
    const url = attachments.find((each) => each.key === key)?.part?.url;
    page.set({ attachments: attachments.filter((each) => each.key !== key) });
    // If the request fails, the file still expires or is erased with the conversation.
    if (url !== undefined) void send(url, { method: 'DELETE' }).catch(() => undefined);
  };

  /** Returns the files of the message and removes them from the composer. */
  take(): FileUIPart[] {
    const { page } = this.#deps;
    const parts = page.get().attachments.flatMap(({ part }) => part ?? []);
    page.set({ attachments: [] });
    return parts;
  }

  /** Puts the files of a refused message back into the composer. */
  giveBack(parts: UIMessage['parts']): void {
    const { page } = this.#deps;
    const back = parts.flatMap((part): Attachment[] =>
      part.type === 'file' && parseFileUrl(part.url) !== undefined
        ? [{ key: generateId(), name: part.filename ?? 'File', part }]
        : [],
    );
    if (back.length > 0) page.set({ attachments: [...back, ...page.get().attachments] });
  }

  async #add(file: File): Promise<void> {
    const { page } = this.#deps;
    const key = generateId();
    const name = file.name === '' ? 'File' : file.name;
    const fault = this.#faultOf(file);
    const added: Attachment = { key, name, fault };
    page.set({ attachments: [...page.get().attachments, added] });
    if (fault !== undefined) return;
    const change = await this.#upload(file, name).catch((error: unknown) => ({
      fault: error instanceof Refusal ? error.message : UNREACHABLE,
    }));
    const { attachments } = page.get();
    const isThere = attachments.some((each) => each.key === key);
    // The person removed the file during its upload.
    if (!isThere && 'part' in change) {
      void this.#deps.send(change.part.url, { method: 'DELETE' }).catch(() => undefined);
    }
    page.set({
      attachments: attachments.map((each) => (each.key === key ? { ...each, ...change } : each)),
    });
  }

  /** Returns the reason to reject a file before it is uploaded, if there is one. */
  #faultOf({ size, type }: File): string | undefined {
    const { limits } = this.#deps;
    if (limits === undefined) return 'This server takes no files.';
    if (size > limits.maxBytes) {
      return `Too large: files may have up to ${String(Math.floor(limits.maxBytes / 1_048_576))} MB.`;
    }
    if (size === 0) return 'The file is empty.';
    const kind = `${type.slice(0, type.indexOf('/'))}/*`;
    const isTaken = limits.types.some((each) => each === type || each === kind || each === '*/*');
    return isTaken ? undefined : 'Files of this kind are not taken.';
  }

  async #upload(file: File, name: string): Promise<{ part: FileUIPart }> {
    const { sessionId, send } = this.#deps;
    const url = `${chatUrl(sessionId, 'files')}?filename=${encodeURIComponent(name)}`;
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': file.type },
      body: file,
      signal: AbortSignal.timeout(UPLOAD_WITHIN_MS),
    });
    if (!response.ok) throw new Refusal(response.status, await response.text());
    const { type, url: at, mediaType, filename } = (await response.json()) as UploadedFile;
    return { part: { type, url: at, mediaType, ...(filename !== undefined && { filename }) } };
  }
}
