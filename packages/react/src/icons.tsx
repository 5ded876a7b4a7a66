/** Line icons on a 24-point grid, in the colour of the text. What they mean is said by the button around them. */
const icon = (path: string) =>
  function Icon() {
    return (
      <svg className="parley-icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={path} />
      </svg>
    );
  };

/** Across what is off. */
const STROKE = 'M3 3l18 18';
const MICROPHONE = 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21M9 21h6';
const CAMERA = 'M2 6.5h13v11H2zM15 10.5l6-3.5v10l-6-3.5';

export const MicrophoneIcon = /* @__PURE__ */ icon(MICROPHONE);
export const MicrophoneOffIcon = /* @__PURE__ */ icon(MICROPHONE + STROKE);
export const CameraIcon = /* @__PURE__ */ icon(CAMERA);
export const CameraOffIcon = /* @__PURE__ */ icon(CAMERA + STROKE);
export const ScreenIcon = /* @__PURE__ */ icon('M3 4h18v13H3zM12 14V7.5M9 10.5l3-3 3 3M8 20.5h8');
export const ScreenOffIcon = /* @__PURE__ */ icon('M3 4h18v13H3zM9.5 8l5 5M14.5 8l-5 5M8 20.5h8');
export const SpeakerIcon = /* @__PURE__ */ icon(
  'M4 9.5v5h3.5l5 4v-13l-5 4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
);
export const LeaveIcon = /* @__PURE__ */ icon(
  'M3 14c0-7 18-7 18 0 0 2-1 2.4-2.4 2l-2-.8c-1-.5-1.2-1-1.2-2.5a9 9 0 0 0-6.8 0c0 1.5-.2 2-1.2 2.5l-2 .8C4 16.4 3 16 3 14z',
);
export const HandIcon = /* @__PURE__ */ icon(
  'M8 13V6a1.5 1.5 0 0 1 3 0v5-6.5a1.5 1.5 0 0 1 3 0V11 6a1.5 1.5 0 0 1 3 0v9a6 6 0 0 1-11 3.5L3.5 13A1.5 1.5 0 0 1 6 11.5z',
);
export const SmileIcon = /* @__PURE__ */ icon(
  'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14a4 4 0 0 0 7 0M9 9.5v.5M15 9.5v.5',
);
export const GridIcon = /* @__PURE__ */ icon('M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z');
export const FocusIcon = /* @__PURE__ */ icon('M3 4h18v11H3zM3 18h4v2H3zM10 18h4v2h-4zM17 18h4v2h-4z');
export const PinIcon = /* @__PURE__ */ icon('M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6');
export const SettingsIcon = /* @__PURE__ */ icon('M4 7h9M19 7h1M4 17h1M11 17h9M16 4v6M8 14v6');
export const PeopleIcon = /* @__PURE__ */ icon(
  'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 2.9-6 6.5-6s6.5 2.5 6.5 6M16 4.3a3.5 3.5 0 0 1 0 6.5M18 14.5c2.2.8 3.5 2.8 3.5 5.5',
);
export const ChatIcon = /* @__PURE__ */ icon('M4 4h16v13h-8l-5 4v-4H4z');
export const CaptionsIcon = /* @__PURE__ */ icon('M3 5h18v14H3zM10.5 10.5a2 2 0 1 0 0 3M17 10.5a2 2 0 1 0 0 3');
export const ChevronUpIcon = /* @__PURE__ */ icon('M6 15l6-6 6 6');
export const ChevronDownIcon = /* @__PURE__ */ icon('M6 9l6 6 6-6');
export const ChevronLeftIcon = /* @__PURE__ */ icon('M15 6l-6 6 6 6');
export const ChevronRightIcon = /* @__PURE__ */ icon('M9 6l6 6-6 6');
export const CloseIcon = /* @__PURE__ */ icon('M6 6l12 12M18 6L6 18');
export const CheckIcon = /* @__PURE__ */ icon('M5 12.5l4.5 4.5L19 7.5');
export const MoreIcon = /* @__PURE__ */ icon('M11.5 5h1M11.5 12h1M11.5 19h1');
export const PauseIcon = /* @__PURE__ */ icon('M9 5v14M15 5v14');
export const WarningIcon = /* @__PURE__ */ icon('M12 4L2.5 20h19zM12 10v4.5M12 17.2v.1');
export const FullscreenIcon = /* @__PURE__ */ icon('M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5');
export const ReplyIcon = /* @__PURE__ */ icon('M10 5L4 11l6 6M4.5 11H14a6 6 0 0 1 6 6v2');
export const EditIcon = /* @__PURE__ */ icon('M4 20l1-4.5L16 4.5l3.5 3.5-11 11zM13.5 7l3.5 3.5');
export const TrashIcon = /* @__PURE__ */ icon('M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13');
export const FileIcon = /* @__PURE__ */ icon('M6 3h8l4 4v14H6zM14 3v4h4');
export const AttachIcon = /* @__PURE__ */ icon('M12 5v14M5 12h14');
export const SendIcon = /* @__PURE__ */ icon('M4 12L20 4.5 15 20l-3.5-6.5zM11.5 13.5L20 4.5');
export const SpeakerOffIcon = /* @__PURE__ */ icon('M4 9.5v5h3.5l5 4v-13l-5 4zM16.5 9.5l5 5M21.5 9.5l-5 5');
