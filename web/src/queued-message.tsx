import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import { useCurrentConversation } from './current-conversation.js';

interface Props {
  id: string;
  text: string;
  files: readonly string[];
  /** Condition under which the message is sent. */
  mode: string;
}

/** A queued message, which can be edited: Enter saves, Escape cancels. */
export function QueuedMessage({ id, text, files, mode }: Props): ReactElement {
  const { controls } = useCurrentConversation();
  const [draft, setDraft] = useState<string>();
  const edit = useRef<HTMLButtonElement>(null);
  const isEdited = useRef(false);

  useEffect(() => {
    // Focus returns to the edit button.
    if (draft === undefined && isEdited.current) edit.current?.focus();
    isEdited.current = draft !== undefined;
  }, [draft]);

  const save = (): void => {
    const changed = draft?.trim() ?? '';
    setDraft(undefined);
    if (changed !== '' && changed !== text) void controls.editQueued(id, changed);
  };
  const onKey = (event: KeyboardEvent): void => {
    // Enter and Escape also end the composition of a character.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') setDraft(undefined);
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    save();
  };

  if (draft !== undefined) {
    return (
      <li data-testid="queued">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <textarea
            data-testid="queued-draft"
            aria-label="Message that waits"
            autoFocus
            rows={2}
            value={draft}
            ref={putCaretAtEnd}
            onKeyDown={onKey}
            onChange={(event) => setDraft(event.target.value)}
          />
          <button type="submit" data-testid="save-queued">
            Save
          </button>
        </form>
      </li>
    );
  }
  return (
    <li data-testid="queued">
      <span className="queued-text">
        {[text, ...files].filter((part) => part !== '').join(', ')}
      </span>
      <small>{mode}</small>
      <button
        type="button"
        className="plain"
        data-testid="edit-queued"
        ref={edit}
        onClick={() => setDraft(text)}
      >
        Edit
      </button>
      <button
        type="button"
        className="plain"
        data-testid="remove-queued"
        onClick={() => void controls.removeQueued(id)}
      >
        Remove
      </button>
    </li>
  );
}

/** Ref callback, so the caret moves only when the box opens. */
function putCaretAtEnd(box: HTMLTextAreaElement | null): void {
  box?.setSelectionRange(box.value.length, box.value.length);
}
