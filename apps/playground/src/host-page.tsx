import { createDevices } from '@parley/client';
import { type JoinChoices, ParleyTexts, PreJoin } from '@parley/react';
import { useState } from 'react';
import { backend } from './backend.ts';
import { identityOf, storedName, storeName } from './identity.ts';
import { Problem } from './problem.tsx';
import { SourcePicker } from './source-picker.tsx';
import { Studio } from './studio.tsx';
import { usePageTitle } from './use-page-title.ts';
import { useCardPreview, useSource } from './use-source.ts';

const opening = { join: 'Open the studio', joining: 'Opening the studio…' };

interface Entered {
  id: string;
  role: 'HOST' | 'CO_HOST';
  choices: JoinChoices;
}

/** A host's page; with an id in its address, a co-host's. */
export function HostPage({ streamId }: { streamId: string | null }) {
  usePageTitle('Go live');
  const [devices] = useState(createDevices);
  const [title, setTitle] = useState('My first stream');
  const [source, setSource] = useSource();
  const card = useCardPreview(source);
  const [entered, setEntered] = useState<Entered | null>(null);
  const [isEntering, setEntering] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const enter = async (choices: JoinChoices): Promise<void> => {
    setEntering(true);
    try {
      storeName(choices.name);
      const id = streamId ?? (await backend.createStream(title, identityOf(choices.name))).id;
      setEntered({ id, role: streamId === null ? 'HOST' : 'CO_HOST', choices });
    } catch (problem) {
      setError(problem);
    } finally {
      setEntering(false);
    }
  };
  if (entered) return <Studio {...entered} source={source} devices={devices} />;
  return (
    <ParleyTexts value={opening}>
      <PreJoin
        title={streamId === null ? 'Go live' : 'Join as a co-host'}
        devices={source === 'camera' ? devices : undefined}
        capture={card}
        isMirrored={source === 'camera'}
        initial={{ name: storedName() }}
        isJoining={isEntering}
        onJoin={(choices) => void enter(choices)}
      >
        <Problem error={error} />
        {streamId === null && (
          <label className="parley-field">
            Title of the stream
            <input
              className="parley-input"
              value={title}
              maxLength={200}
              required
              onChange={({ target }) => setTitle(target.value)}
            />
          </label>
        )}
        <SourcePicker source={source} onChange={setSource} />
        <p className="field-hint">Nobody sees you before you go live.</p>
      </PreJoin>
    </ParleyTexts>
  );
}
