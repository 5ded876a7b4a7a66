import { ApiError, ConnectionError, MediaError, PermissionError } from '@parley/client';
import { type CSSProperties, type ReactNode, useState } from 'react';
import {
  Call,
  type CallPanel,
  Chat,
  Controls,
  DeviceMenu,
  FileIcon,
  Grid,
  InCall,
  type JoinChoices,
  Notices,
  ParleyTexts,
  People,
  PreJoin,
  type Reactions,
  Settings,
  Stage,
  Tile,
  useProblem,
  useQuality,
} from '../src/index.ts';
import { camera, crowd, devices, joinableRoom, type Look, person, room, tone } from './fakes.ts';
import type { Exhibit } from './gallery.ts';
import { sampleConversation } from './sample-conversation.ts';
import { sampleMessage } from './sample-messages.ts';

const nothing = (): void => {};
const choices: JoinChoices = { name: 'Ada Lovelace', hasMicrophone: true, hasCamera: true };

const ProblemText = ({ error }: { error: unknown }) => <p className="gallery-problem">{useProblem(error)}</p>;

/** Alone it fills the window; among others it has this height. */
const Frame = ({ height, children }: { height: number; children: ReactNode }) => (
  <div className="gallery-box" style={{ '--height': `${height}px` } as CSSProperties}>
    {children}
  </div>
);

const tile = (name: string, look: Omit<Look, 'seed'> & { seed?: number }, props: object = {}): Exhibit => ({
  name: `tile, ${name}`,
  element: () => (
    <div className="gallery-tile">
      <Tile participant={person({ seed: 1, ...look })} {...props} />
    </div>
  ),
});

const call = (name: string, people: Parameters<typeof room>[0], state = {}, props: object = {}): Exhibit => ({
  name,
  element: () => (
    <Frame height={620}>
      <InCall
        room={room(people, state)}
        devices={devices()}
        title="Weekly planning"
        choices={choices}
        onLeave={nothing}
        {...props}
      />
    </Frame>
  ),
});

const said = [
  ['Grace', 'Is the plan for the second quarter the last one?'],
  ['Alan', 'Yes, I sent it an hour ago.'],
  ['me', 'I see it. The third page has the numbers.'],
  ['Grace', 'Good. Let us begin with those.'],
].map(([senderId = '', text = ''], index) => sampleMessage(index + 1, { senderId, text }));

/** Beside the call. */
function CallChat() {
  const [conversation] = useState(() => sampleConversation({ messages: said, present: ['me', 'Grace', 'Alan'] }));
  Object.assign(window, { sampleConversation: conversation });
  return <Chat conversation={conversation} userId="me" />;
}

/** `isHere` is a page that takes the call away and shows it again. */
function WholeCall({ hasDevices, isDirect = false }: { hasDevices: boolean; isDirect?: boolean }) {
  const [joinable] = useState(() => joinableRoom(hasDevices ? devices() : null));
  const [isHere, setHere] = useState(true);
  return (
    <Frame height={620}>
      {isDirect && (
        <button type="button" className="gallery-toggle" onClick={() => setHere(!isHere)}>
          {isHere ? 'Take away' : 'Show again'}
        </button>
      )}
      {isHere && (
        <Call
          room={joinable}
          title="Weekly planning"
          initial={{ ...choices, hasCamera: false, hasMicrophone: false }}
          hasShortcuts={hasDevices}
          hasPreJoin={!isDirect}
          chat={<CallChat />}
        />
      )}
    </Frame>
  );
}

const notes: CallPanel = {
  id: 'notes',
  label: 'Notes',
  icon: <FileIcon />,
  badge: 3,
  content: <p style={{ padding: 16 }}>A panel of the application.</p>,
};
const someReactions = (people: readonly { identity: string }[]): Reactions => ({
  hands: new Set(people.slice(1, 3).map(({ identity }) => identity)),
  reactions: new Map(people.slice(3, 5).map(({ identity }) => [identity, '👏'])),
  react: nothing,
  raiseHand: nothing,
});
const sharing = [...crowd(5).slice(0, 2), person({ seed: 2, hasScreen: true }), ...crowd(6).slice(3)];

const stage = (name: string, people: Parameters<typeof room>[0], props: object = {}): Exhibit => ({
  name,
  element: () => (
    <Frame height={520}>
      <div className="gallery-stage parley-dark">
        <Stage room={room(people)} {...props} />
      </div>
    </Frame>
  ),
});

function OwnQuality() {
  const [alone] = useState(() => room(crowd(1), { quality: 'fair' }));
  return <p>{`${useQuality(alone)} ${useQuality(alone, alone.self.identity)} ${useQuality(alone, 'nobody')}`}</p>;
}

const preJoin = (name: string, props: object): Exhibit => ({
  name,
  element: () => <PreJoin title="Weekly planning" initial={choices} onJoin={nothing} {...props} />,
});
const refused = (code: string, message: string) => () => Promise.reject(new MediaError({ code, message }));

export const callExhibits: readonly Exhibit[] = [
  preJoin('pre-join', { devices: devices(), capture: { camera: () => camera(0), microphone: () => tone() } }),
  preJoin('pre-join, camera refused', {
    capture: {
      camera: refused('permission_denied', 'This page may not use the camera.'),
      microphone: refused('device_in_use', 'Another program is using the microphone.'),
    },
  }),
  preJoin('pre-join, joining', { isJoining: true, capture: { camera: null, microphone: null } }),
  tile('camera on', {}),
  tile('camera off', { hasCamera: false }),
  tile('speaking', { isSpeaking: true }),
  tile('muted', { isMuted: true, hasCamera: false, seed: 3 }),
  tile('oneself', { isLocal: true, seed: 0 }, { isMirrored: true }),
  tile('hand raised', {}, { isHandRaised: true }),
  tile('reaction', {}, { reaction: '🎉' }),
  tile('pinned', {}, { isPinned: true, onPin: nothing }),
  tile('paused for bandwidth', { isPaused: true, quality: 'poor' }),
  tile('connection fair', { quality: 'fair' }),
  tile('connection lost', { quality: 'lost', hasCamera: false }),
  tile('long name', { name: 'Wolfeschlegelsteinhausenbergerdorff the Second of Philadelphia', seed: 5 }),
  tile('screen', { hasScreen: true }, { of: 'screen' }),
  ...[1, 2, 3, 5, 9].map((count) => stage(`stage of ${count}`, crowd(count))),
  stage('stage, speaker layout', crowd(7), { layout: 'speaker' }),
  stage('stage, screen share', sharing),
  stage('stage, hands and reactions', crowd(6), someReactions(crowd(6))),
  {
    name: 'grid of anything',
    element: () => (
      <Frame height={240}>
        <Grid focus="b">
          {['a', 'b', 'c'].map((key) => (
            <div key={key} className="gallery-any">
              {key}
            </div>
          ))}
        </Grid>
      </Frame>
    ),
  },
  {
    name: 'controls',
    element: () => (
      <Controls
        room={room(crowd(3))}
        devices={devices()}
        reactions={someReactions(crowd(5))}
        onLayout={nothing}
        onSettings={nothing}
        onLeave={nothing}
      />
    ),
  },
  {
    name: 'controls, everything off',
    element: () => (
      <Controls room={room([person({ seed: 0, isLocal: true, hasCamera: false, isMuted: true })])} onLeave={nothing} />
    ),
  },
  {
    name: 'controls, muted by the host',
    element: () => (
      <Controls room={room([person({ seed: 0, isLocal: true, isMutedByServer: true })])} onLeave={nothing} />
    ),
  },
  {
    name: 'controls, sound alone',
    element: () => (
      <Controls
        room={room([person({ seed: 0, isLocal: true, permissions: { publishAudio: true, publishVideo: false } })])}
        onLeave={nothing}
      />
    ),
  },
  {
    name: 'another language',
    element: () => (
      <ParleyTexts value={{ microphone: 'Mikrofon', camera: 'Kamera', leave: 'Anruf verlassen' }}>
        <Controls room={room(crowd(1))} onLeave={nothing} />
      </ParleyTexts>
    ),
  },
  {
    name: 'device menu',
    element: () => (
      <div className="gallery-dark parley-dark">
        <DeviceMenu devices={devices()} kinds={['microphone', 'speaker']} />
      </div>
    ),
  },
  {
    name: 'errors in another language',
    element: () => (
      <ParleyTexts value={{ errors: { room_full: 'Der Anruf ist voll.' } }}>
        <div className="gallery-notices">
          <Notices room={room(crowd(2))} error={new ConnectionError('room_full')} />
        </div>
        <div className="gallery-notices">
          <Notices room={room(crowd(2))} error={new Error('Something of the application.')} />
        </div>
        {[
          new ConnectionError('room_full', { code: 'SVC_ROOM_FULL', message: 'See its `maxParticipants`.' }),
          new PermissionError({ code: 'SVC_DATA_NOT_ALLOWED', message: 'Mint it with `publishData`.' }),
          new ApiError({ code: 'SVC_UNREADABLE_ANSWER', message: 'Check its address.' }),
          new MediaError({ code: 'device_in_use', message: 'Another program is using the camera.' }),
        ].map((error) => (
          <ProblemText key={error.code} error={error} />
        ))}
      </ParleyTexts>
    ),
  },
  { name: 'own quality', element: () => <OwnQuality /> },
  {
    name: 'people',
    element: () => <People room={room(crowd(5))} hands={someReactions(crowd(5)).hands} />,
  },
  {
    name: 'notices',
    element: () => (
      <div className="gallery-notices">
        <Notices
          room={room(crowd(2), { connection: 'reconnecting', isAudioBlocked: true })}
          error={new MediaError({ code: 'device_lost', message: 'The camera is gone. Connect it, then turn it on.' })}
          onDismiss={nothing}
        />
      </div>
    ),
  },
  { name: 'whole call', element: () => <WholeCall hasDevices /> },
  { name: 'whole call, no devices', element: () => <WholeCall hasDevices={false} /> },
  call('call of 1', crowd(1)),
  call('call of 2', crowd(2)),
  call('call of 5', crowd(5)),
  call('call without a title', crowd(2), {}, { title: undefined }),
  call('call, screen share', sharing),
  call('call with a panel', crowd(4), {}, { panels: [notes], openPanel: 'notes' }),
  call('call with people', crowd(5), {}, { openPanel: 'people' }),
  call('call with a header', crowd(2), {}, { header: <strong>Recorded for the minutes</strong> }),
  call('call with chat', crowd(4), {}, { chat: <CallChat />, openPanel: 'chat' }),
  call(
    'call with captions',
    crowd(3),
    {},
    { captions: 'Grace Hopper: The most dangerous phrase is: we always did it so.' },
  ),
  call('call, joining', [], { connection: 'connecting' }),
  call('call, reconnecting', crowd(3), { connection: 'reconnecting', reconnectingSince: 0 }),
  call('call, recorded', crowd(5), { isRecording: true }),
  {
    name: 'call, recorded, in another language',
    element: () => (
      <ParleyTexts value={{ recording: 'Aufnahme' }}>
        <div className="gallery-notices">
          <Notices room={room(crowd(2), { isRecording: true })} />
        </div>
      </ParleyTexts>
    ),
  },
  call('call, removed', [], {
    connection: 'disconnected',
    error: new ConnectionError('removed'),
  }),
];

/** Shown only alone: a dialog covers the page, and crowds would make it slow. */
export const callAlone: readonly Exhibit[] = [
  ...[12, 25, 49].map((count) => stage(`stage of ${count}`, crowd(count))),
  { name: 'call without questions', element: () => <WholeCall hasDevices isDirect /> },
  call('call of 12', crowd(12)),
  call('call of 25', crowd(25)),
  {
    name: 'settings',
    element: () => (
      <Settings
        room={room(crowd(1))}
        devices={devices()}
        isSelfMirrored
        onMirror={nothing}
        backgrounds={['Library', 'Beach']}
        onBackground={nothing}
        onClose={nothing}
      />
    ),
  },
];
