import { createDevices, type Devices, type Room } from '@parley/client';
import { useEffect, useState } from 'react';
import { ProblemLine } from '../problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { InCall, type InCallProps } from './in-call.tsx';
import { type JoinChoices, PreJoin } from './pre-join.tsx';

export interface CallProps extends Omit<InCallProps, 'onLeave' | 'choices' | 'devices'> {
  room: Room;
  /** The ones the room was made with, so that a choice takes effect at once. */
  devices?: Devices;
  /** False: the call is joined with the component, with microphone and camera as in `initial`. */
  hasPreJoin?: boolean;
  initial?: Partial<JoinChoices>;
  /** Before the room is connected: the moment to fetch a token for this name. */
  onJoin?: (choices: JoinChoices) => void | Promise<void>;
  onLeave?: () => void;
}

type Step = { at: 'before' | 'left' } | { at: 'in'; choices: JoinChoices };

/** A whole call: what comes before it, the call, and what comes after it. */
export function Call({ devices: given, hasPreJoin = true, initial = {}, onJoin, onLeave, ...props }: CallProps) {
  const devices = useOwnDevices(given);
  const direct: JoinChoices = { name: '', hasMicrophone: true, hasCamera: true, ...initial };
  const [step, setStep] = useState<Step>(hasPreJoin ? { at: 'before' } : { at: 'in', choices: direct });
  const [isJoining, setJoining] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const join = async (choices: JoinChoices): Promise<void> => {
    setJoining(true);
    try {
      await onJoin?.(choices);
      setStep({ at: 'in', choices });
      setError(null);
    } catch (problem) {
      setError(problem);
    } finally {
      setJoining(false);
    }
  };
  if (!devices) return null;
  if (step.at === 'in')
    return (
      <InCall
        {...props}
        devices={devices}
        choices={step.choices}
        onLeave={() => {
          setStep({ at: 'left' });
          onLeave?.();
        }}
      />
    );
  if (step.at === 'left')
    return <LeftCall onRejoin={() => setStep({ at: hasPreJoin ? 'before' : 'in', choices: direct })} />;
  return (
    <PreJoin
      devices={devices}
      title={props.title}
      initial={initial}
      isJoining={isJoining}
      onJoin={(choices) => void join(choices)}
    >
      <ProblemLine error={error} />
    </PreJoin>
  );
}

function LeftCall({ onRejoin }: { onRejoin: () => void }) {
  const texts = useTexts();
  return (
    <div className="parley parley-left">
      <h1>{texts.leftTitle}</h1>
      <button type="button" className="parley-button" data-kind="primary" onClick={onRejoin}>
        {texts.rejoin}
      </button>
    </div>
  );
}

/** Made here where the application has none; never while a page is rendered on a server. */
function useOwnDevices(given: Devices | undefined): Devices | undefined {
  const [own, setOwn] = useState<Devices>();
  useEffect(() => {
    if (given) return;
    const made = createDevices();
    setOwn(made);
    return () => made.close();
  }, [given]);
  return given ?? own;
}
