import { useState } from 'react';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { devicesOf, InCall, type InCallProps } from './in-call.tsx';
import { type JoinChoices, PreJoin } from './pre-join.tsx';

export interface CallProps extends Omit<InCallProps, 'onLeave' | 'choices'> {
  /** False: the call is joined with the component, with microphone and camera as in `initial`. */
  hasPreJoin?: boolean;
  initial?: Partial<JoinChoices>;
  /** Before the room is connected: the moment to fetch a token for this name. */
  onJoin?: (choices: JoinChoices) => void | Promise<void>;
  onLeave?: () => void;
}

type Step = { at: 'before' | 'left' } | { at: 'in'; choices: JoinChoices };

/** A whole call: what comes before it, the call, and what comes after it. */
export function Call({ hasPreJoin = true, initial = {}, onJoin, onLeave, ...props }: CallProps) {
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
  if (step.at === 'in')
    return (
      <InCall
        {...props}
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
      devices={devicesOf(props)}
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
