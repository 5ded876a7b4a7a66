import { type ReactNode, useEffect, useState } from 'react';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { CallOver } from './call-over.tsx';
import { type CallViewProps, devicesOf } from './call-view.tsx';
import { InCall, type InCallProps } from './in-call.tsx';
import { type JoinChoices, PreJoin, type PreJoinProps } from './pre-join.tsx';

export interface CallProps extends Omit<CallViewProps, 'onLeave'>, Pick<InCallProps, 'publish'> {
  /** False: the call is joined with the component, with microphone and camera as in `initial`. */
  hasPreJoin?: boolean;
  initial?: Partial<JoinChoices>;
  /** Other sources than the devices before the call; then there are no lists of devices there. See also `publish`. */
  capture?: PreJoinProps['capture'];
  /** Further fields of the form before the call. */
  fields?: ReactNode;
  /** Before the room is connected: the moment to fetch a token for this name, or to give another `room`. */
  onJoin?: (choices: JoinChoices) => void | Promise<void>;
  onLeave?: () => void;
}

/** `isAsked`: by the user, not by the component being there. */
type Step = { at: 'before' | 'left' } | { at: 'in'; choices: JoinChoices; isAsked: boolean };

/** A whole call: what comes before it, the call, and what comes after it. */
export function Call({ hasPreJoin = true, initial = {}, capture, fields, onJoin, onLeave, ...props }: CallProps) {
  const texts = useTexts();
  const direct: JoinChoices = { name: '', hasMicrophone: true, hasCamera: true, ...initial };
  const [step, setStep] = useState<Step>(hasPreJoin ? { at: 'before' } : { at: 'in', choices: direct, isAsked: false });
  const [isJoining, setJoining] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const join = async (choices: JoinChoices): Promise<void> => {
    setJoining(true);
    try {
      await onJoin?.(choices);
      setStep({ at: 'in', choices, isAsked: true });
      setError(null);
    } catch (problem) {
      setError(problem);
    } finally {
      setJoining(false);
    }
  };
  if (step.at === 'in')
    return (
      <JoinedCall
        {...props}
        choices={step.choices}
        isAsked={step.isAsked}
        onLeave={() => {
          setStep({ at: 'left' });
          onLeave?.();
        }}
      />
    );
  if (step.at === 'left')
    return (
      <CallOver
        title={<h1>{texts.leftTitle}</h1>}
        onRejoin={() => setStep(hasPreJoin ? { at: 'before' } : { at: 'in', choices: direct, isAsked: true })}
      />
    );
  return (
    <PreJoin
      devices={capture ? undefined : devicesOf(props)}
      title={props.title}
      initial={initial}
      isJoining={isJoining}
      isMirrored={props.isSelfMirrored}
      capture={capture}
      onJoin={(choices) => void join(choices)}
    >
      <ProblemLine error={error ?? props.error} />
      {fields}
    </PreJoin>
  );
}

/** A room that the service had ended is joined again because the user asked for it. */
function JoinedCall({ isAsked, ...props }: InCallProps & { isAsked: boolean }) {
  const { room } = props;
  useEffect(() => {
    if (isAsked) room.connect().catch(() => {});
  }, [room, isAsked]);
  return <InCall {...props} />;
}
