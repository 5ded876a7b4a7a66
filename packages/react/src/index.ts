'use client';

export { useRoom, useStore, useTrackRef } from '@parley/client/react';
export { Call, type CallProps } from './call/call.tsx';
export { CallView, type CallViewProps } from './call/call-view.tsx';
export { ControlButton, type ControlButtonProps } from './call/control-button.tsx';
export { Controls, type ControlsProps } from './call/controls.tsx';
export { DeviceMenu, type DeviceMenuProps, DeviceSelect } from './call/device-menu.tsx';
export { Grid, type GridProps } from './call/grid.tsx';
export { InCall, type InCallProps } from './call/in-call.tsx';
export { Level } from './call/level.tsx';
export { RoomAudio } from './call/media.tsx';
export { Notices, type NoticesProps } from './call/notices.tsx';
export { People, type PeopleProps } from './call/people.tsx';
export { type JoinChoices, PreJoin, type PreJoinProps } from './call/pre-join.tsx';
export { QualityBars } from './call/quality-bars.tsx';
export { Settings } from './call/settings.tsx';
export type { SettingsProps } from './call/settings-props.ts';
export type { CallPanel } from './call/side-panel.tsx';
export { type Layout, Stage, type StageProps } from './call/stage.tsx';
export { Tile, type TileProps } from './call/tile.tsx';
export { Chat, type ChatProps } from './chat/chat.tsx';
export { ConversationList, type ConversationListProps } from './chat/conversation-list.tsx';
export {
  useChat,
  useChatStore,
  useConversation,
  useConversations,
  useMessages,
  usePresence,
  useReadMarks,
  useTyping,
} from './hooks/chat.ts';
export { type OlderMessages, useOlderMessages } from './hooks/history.ts';
export { type LiveStreamState, useStream } from './hooks/stream.ts';
export {
  type PublishedTrack,
  useActiveSpeakers,
  useDevices,
  useParticipant,
  useParticipants,
  useQuality,
  useTracks,
} from './hooks/use-call.ts';
export { type Reactions, useReactions } from './hooks/use-reactions.ts';
export * from './icons.tsx';
export { Avatar } from './shared/avatar.tsx';
export { Menu, type MenuGroup, type MenuItem, type MenuProps } from './shared/menu.tsx';
export { type PanelScope, usePanel } from './shared/panel-scope.ts';
export { useProblem } from './shared/problem-line.tsx';
export { StreamPlayer, type StreamPlayerProps, StreamStage, type StreamStageProps } from './stream/stream-player.tsx';
export { ParleyTexts, type Texts, useTexts } from './texts.tsx';
