import { useEffect, useState } from 'react';
import { t } from '../i18n/t.ts';
import { Button, IconButton } from './button.tsx';
import { CheckIcon, CopyIcon } from './icons.tsx';
import { announce } from './live.tsx';

function useCopied(text: string): [isCopied: boolean, copy: () => void] {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return [
    isCopied,
    () =>
      void copyText(text).then((isDone) => {
        setCopied(isDone);
        announce(isDone ? t('kit.copied') : t('kit.copyRefused'));
      }),
  ];
}

/** False where the browser refuses: outside https and localhost there is no clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({ text, label = t('kit.copy') }: { text: string; label?: string }) {
  const [isCopied, copy] = useCopied(text);
  return (
    <IconButton label={label} onClick={copy}>
      {isCopied ? <CheckIcon /> : <CopyIcon />}
    </IconButton>
  );
}

/** The same with a word on it. */
export function CopyTextButton({ text, children }: { text: string; children: string }) {
  const [isCopied, copy] = useCopied(text);
  return (
    <Button onClick={copy} icon={isCopied ? <CheckIcon /> : <CopyIcon />}>
      {children}
    </Button>
  );
}

/** An id in full, ready to be copied. */
export function CopyId({ id, label = t('kit.copyId') }: { id: string; label?: string }) {
  return (
    <span className="copy-id">
      <span className="mono">{id}</span>
      <CopyButton text={id} label={label} />
    </span>
  );
}

/** Code to take away. */
export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <figure className="snippet">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={code} label={t('kit.copyWhat', { what: label })} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
