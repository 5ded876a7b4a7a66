import type { Room } from '@parley/client';
import { useStore } from '@parley/client/react';
import { type ReactNode, useEffect, useState } from 'react';
import { useQuality } from '../hooks/use-call.ts';
import { CloseIcon, SpeakerIcon, WarningIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useProblem } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';

interface NoticeProps {
  kind?: 'warn' | 'bad' | 'recording';
  icon?: ReactNode;
  children: ReactNode;
  action?: ReactNode;
}

export function Notice({ kind, icon, children, action }: NoticeProps) {
  return (
    <div className="parley-notice" data-kind={kind}>
      {icon}
      <span>{children}</span>
      {action}
    </div>
  );
}

export interface NoticesProps {
  room: Room;
  /** What failed last. */
  error?: unknown;
  onDismiss?: () => void;
}

/** What one must know of the call: that it is recorded, a lost connection, sound that is not played, a weak network. */
export function Notices({ room, error, onDismiss }: NoticesProps) {
  const texts = useTexts();
  const { connection, isAudioBlocked, isRecording } = useStore(room.state);
  const problem = useProblem(error);
  const quality = useLasting(useQuality(room));
  const isPoor = connection === 'connected' && (quality === 'poor' || quality === 'lost');
  return (
    <div className="parley parley-notices" role="status">
      {isRecording && <Notice kind="recording">{texts.recording}</Notice>}
      {connection === 'reconnecting' && (
        <Notice kind="warn" icon={<span className="parley-spinner" />}>
          {texts.reconnecting}
        </Notice>
      )}
      {isPoor && (
        <Notice kind="warn" icon={<WarningIcon />}>
          {texts.poorConnection}
        </Notice>
      )}
      {isAudioBlocked && (
        <Notice
          icon={<SpeakerIcon />}
          action={
            <button type="button" className="parley-button" data-kind="primary" onClick={() => void room.startAudio()}>
              {texts.startSound}
            </button>
          }
        >
          {texts.soundBlocked}
        </Notice>
      )}
      {error !== null && error !== undefined && (
        <Notice
          kind="bad"
          icon={<WarningIcon />}
          action={
            onDismiss && (
              <IconButton label={texts.dismiss} onClick={onDismiss}>
                <CloseIcon />
              </IconButton>
            )
          }
        >
          {problem}
        </Notice>
      )}
    </div>
  );
}

/** A dip of a moment is not worth a word: the value once it has held for some seconds. */
function useLasting<T>(value: T): T {
  const [lasting, setLasting] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLasting(value), 4_000);
    return () => clearTimeout(timer);
  }, [value]);
  return lasting;
}
