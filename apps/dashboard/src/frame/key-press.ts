/** Single-letter shortcuts are ignored in text fields. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches('input:not([type=radio], [type=checkbox]), textarea, select, [role=option]'))
  );
}

export const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;
