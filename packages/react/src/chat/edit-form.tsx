import type { Message } from '@parley/client/chat';
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';

/** In place of the text. Enter saves, Escape gives up; both put the focus back on the message. */
export function EditForm({ message: { id, text } }: { message: Message }) {
  const texts = useTexts();
  const { conversation, run, setEditing } = useChatScope();
  const field = useRef<HTMLTextAreaElement>(null);
  // The button that opened it is gone. At once and not by `autoFocus`, which the list would not hear of.
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);

  const close = (): void => {
    field.current?.closest<HTMLElement>('.parley-row')?.focus({ preventScroll: true });
    setEditing(null);
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const next = field.current?.value.trim() ?? '';
    close();
    if (id !== null && next !== '' && next !== text && conversation) run(conversation.edit(id, next));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) save(event);
  };
  return (
    <form className="parley-edit" onSubmit={save}>
      <textarea
        ref={field}
        className="parley-input"
        dir="auto"
        defaultValue={text ?? ''}
        aria-label={texts.newText}
        onKeyDown={onKeyDown}
      />
      <button type="button" className="parley-button" data-kind="quiet" onClick={close}>
        {texts.cancel}
      </button>
      <button type="submit" className="parley-button" data-kind="primary">
        {texts.save}
      </button>
    </form>
  );
}
