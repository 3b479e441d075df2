import {
  useEffect,
  useRef,
  type KeyboardEvent,
  type ReactElement,
  type SyntheticEvent,
} from 'react';
import { AttachButton } from './attach-button.js';
import { AttachmentList } from './attachment-list.js';
import type { Attachment } from './attachment.js';
import { BusyChoice } from './busy-choice.js';
import type { WhenBusy } from './page-store.js';

interface Props {
  draft: string;
  attachments: readonly Attachment[];
  /** Types of files that may be added; undefined if none. */
  accept: string | undefined;
  /** A reply is under way, which can be stopped. */
  busy: boolean;
  stopping: boolean;
  whenBusy: WhenBusy;
  /** Nothing can be sent right now; the person can keep typing. */
  blocked: boolean;
  onDraft: (draft: string) => void;
  onWhenBusy: (chosen: WhenBusy) => void;
  onFiles: (files: readonly File[]) => void;
  onRemoveFile: (key: string) => void;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer(props: Props): ReactElement {
  const { draft, busy, stopping, whenBusy, blocked, onDraft, onWhenBusy, onSend, onStop } = props;
  const { attachments, accept, onFiles, onRemoveFile } = props;
  // Nothing is sent without a file that is still on its way, or that the person has yet to remove.
  const isComplete = attachments.every(({ part }) => part !== undefined);
  const isEmpty = draft.trim() === '' && attachments.length === 0;
  const cannotSend = blocked || isEmpty || !isComplete;
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a phone its keyboard would cover what there is to read.
    if (!window.matchMedia('(pointer: coarse)').matches) box.current?.focus();
  }, []);

  const submit = (): void => {
    if (!cannotSend) onSend(draft.trim());
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    // Enter also ends the composition of a character in many scripts.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  const takeFiles = (event: SyntheticEvent, data: DataTransfer | null): void => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  };

  return (
    <form
      // On a phone, two buttons beside the text would leave it a column of syllables.
      className={busy && !isEmpty ? 'composer with-both' : 'composer'}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={(event) => {
        takeFiles(event, event.dataTransfer);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <AttachmentList attachments={attachments} onRemove={onRemoveFile} />
      {accept !== undefined && <AttachButton accept={accept} onFiles={onFiles} />}
      <label className="hidden" htmlFor="composer">
        Your message
      </label>
      <textarea
        id="composer"
        data-testid="composer"
        ref={box}
        rows={1}
        placeholder="Write a message"
        value={draft}
        onChange={(event) => {
          onDraft(event.target.value);
        }}
        onKeyDown={sendOnEnter}
        onPaste={(event) => {
          takeFiles(event, event.clipboardData);
        }}
      />
      {busy && (
        <button type="button" data-testid="stop" disabled={stopping} onClick={onStop}>
          Stop
        </button>
      )}
      {(!busy || !isEmpty) && (
        <button type="submit" className="primary" data-testid="send" disabled={cannotSend}>
          Send
        </button>
      )}
      {busy && !isEmpty && <BusyChoice chosen={whenBusy} onChoose={onWhenBusy} />}
    </form>
  );
}
