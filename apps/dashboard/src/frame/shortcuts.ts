import { useEffect, useEffectEvent } from 'react';
import { useLocation } from 'wouter';
import { t } from '../i18n/t.ts';
import { copyText } from '../kit/copy.tsx';
import { announce } from '../kit/live.tsx';
import { isDialogOpen, isTyping } from './key-press.ts';
import { pages } from './pages.ts';
import { preferences } from './preferences.ts';

export const shortcutList = (): readonly (readonly [keys: string, does: string])[] => [
  [t('frame.keyPalette'), t('frame.doesPalette')],
  ['/', t('frame.doesFilter')],
  [t('frame.keyMove'), t('frame.doesMove')],
  ['Enter', t('frame.doesOpen')],
  ['c', t('frame.doesCopy')],
  ['?', t('frame.doesHelp')],
  ...pages.map(({ letter, label }) => [t('frame.keyGo', { letter }), t('frame.doesGo', { page: t(label) })] as const),
];

/** Moves the focus to the first link or button of the row above or below. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr')];
  const targets = rows.flatMap((row) => row.querySelector<HTMLElement>('a, button') ?? []);
  const row = document.activeElement?.closest('tr');
  const at = row ? targets.findIndex((target) => row.contains(target)) : step === 1 ? -1 : 0;
  targets[Math.max(0, Math.min(targets.length - 1, at + step))]?.focus();
}

async function copyRow(): Promise<void> {
  const id = document.activeElement?.closest<HTMLElement>('[data-copy]')?.dataset['copy'];
  if (id !== undefined && (await copyText(id))) announce(t('frame.copiedId', { id }));
}

const gMs = 1_500;

export function useShortcuts(options: {
  to: ((page: string) => string) | null;
  onPalette(): void;
  onHelp(): void;
}): void {
  const [, navigate] = useLocation();
  const { to } = options;

  const go = useEffectEvent((letter: string) => {
    const page = pages.find((row) => row.letter === letter);
    if (page && to) navigate(to(page.path));
  });
  const open = useEffectEvent((what: 'palette' | 'help') =>
    what === 'palette' ? options.onPalette() : options.onHelp(),
  );

  useEffect(() => {
    let gUntil = 0;
    const actions: Record<string, () => void> = {
      '/': () => document.querySelector<HTMLElement>('main [data-filter]')?.focus(),
      j: () => moveRow(1),
      k: () => moveRow(-1),
      c: () => void copyRow(),
      '?': () => open('help'),
      g: () => {
        gUntil = performance.now() + gMs;
      },
    };
    function onKeyDown(event: KeyboardEvent): void {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        if (!isDialogOpen()) open('palette');
        return;
      }
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isPlain || preferences().shortcuts === 'off' || isTyping(event.target) || isDialogOpen()) return;
      if (performance.now() < gUntil) {
        gUntil = 0;
        go(event.key);
        return;
      }
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    }
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
