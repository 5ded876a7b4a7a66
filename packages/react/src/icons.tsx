/** Line icons on a 24-point grid, in the colour of the text. What they mean is said by the button around them. */
const icon = (path: string) =>
  function Icon() {
    return (
      <svg className="parley-icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d={path} />
      </svg>
    );
  };

export const MicrophoneIcon = /* @__PURE__ */ icon(
  'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21M9 21h6',
);
export const MicrophoneOffIcon = /* @__PURE__ */ icon(
  'M9 9v2a3 3 0 0 0 4.6 2.5M15 11V6a3 3 0 0 0-5.8-1M5.5 11a6.5 6.5 0 0 0 10.2 5.3M18.5 11a6.5 6.5 0 0 1-.8 3.1M12 17.5V21M9 21h6M4 4l16 16',
);
export const CameraIcon = /* @__PURE__ */ icon(
  'M4 6.5h9a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM15 10.5l5.3-3a.5.5 0 0 1 .7.5v8a.5.5 0 0 1-.7.5l-5.3-3',
);
export const CameraOffIcon = /* @__PURE__ */ icon(
  'M10 6.5h3a2 2 0 0 1 2 2v4M15 15.5a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2v-7c0-.9.6-1.7 1.4-1.9M15 10.5l5.3-3a.5.5 0 0 1 .7.5v8a.5.5 0 0 1-.7.5M3 3l18 18',
);
export const ScreenIcon = /* @__PURE__ */ icon(
  'M4 4h16a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zM12 14V7.5M9 10.5l3-3 3 3M8 20.5h8',
);
export const ScreenOffIcon = /* @__PURE__ */ icon(
  'M4 4h16a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zM9.5 8l5 5M14.5 8l-5 5M8 20.5h8',
);
export const SpeakerIcon = /* @__PURE__ */ icon(
  'M4 9.5v5h3.5l5 4v-13l-5 4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
);
export const LeaveIcon = /* @__PURE__ */ icon(
  'M3.5 14.5c-.8-.8-.8-2 0-2.9C5.6 9.3 8.7 8 12 8s6.4 1.3 8.5 3.6c.8.9.8 2.1 0 2.9l-1.6 1.5c-.4.4-1 .4-1.5.1l-2.3-1.5c-.4-.3-.6-.7-.6-1.2v-1.8a11 11 0 0 0-5 0v1.8c0 .5-.2.9-.6 1.2l-2.3 1.5c-.5.3-1.1.3-1.5-.1z',
);
export const HandIcon = /* @__PURE__ */ icon(
  'M8 13V6.5a1.5 1.5 0 0 1 3 0V11 4.5a1.5 1.5 0 0 1 3 0V11 5.5a1.5 1.5 0 0 1 3 0V12 8.5a1.5 1.5 0 0 1 3 0V15a6.5 6.5 0 0 1-6.5 6.5c-2.5 0-4.2-1-5.5-3l-3.5-5.5a1.5 1.5 0 0 1 2.5-1.6L8 13',
);
export const SmileIcon = /* @__PURE__ */ icon(
  'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14a4 4 0 0 0 7 0M9 9.5v.5M15 9.5v.5',
);
export const GridIcon = /* @__PURE__ */ icon('M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z');
export const FocusIcon = /* @__PURE__ */ icon('M3 4h18v11H3zM3 18h4v2H3zM10 18h4v2h-4zM17 18h4v2h-4z');
export const PinIcon = /* @__PURE__ */ icon('M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6');
export const SettingsIcon = /* @__PURE__ */ icon(
  'M12 5.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1M16.6 16.6l2.1 2.1M5.3 18.7l2.1-2.1M16.6 7.4l2.1-2.1',
);
export const PeopleIcon = /* @__PURE__ */ icon(
  'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 2.9-6 6.5-6s6.5 2.5 6.5 6M16 4.3a3.5 3.5 0 0 1 0 6.5M18 14.5c2.2.8 3.5 2.8 3.5 5.5',
);
export const CaptionsIcon = /* @__PURE__ */ icon(
  'M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM10.5 10.5a2 2 0 1 0 0 3M17 10.5a2 2 0 1 0 0 3',
);
export const ChevronUpIcon = /* @__PURE__ */ icon('M6 15l6-6 6 6');
export const ChevronDownIcon = /* @__PURE__ */ icon('M6 9l6 6 6-6');
export const ChevronLeftIcon = /* @__PURE__ */ icon('M15 6l-6 6 6 6');
export const ChevronRightIcon = /* @__PURE__ */ icon('M9 6l6 6-6 6');
export const CloseIcon = /* @__PURE__ */ icon('M6 6l12 12M18 6L6 18');
export const CheckIcon = /* @__PURE__ */ icon('M5 12.5l4.5 4.5L19 7.5');
export const MoreIcon = /* @__PURE__ */ icon(
  'M13 5a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM13 19a1 1 0 1 1-2 0 1 1 0 0 1 2 0z',
);
export const PauseIcon = /* @__PURE__ */ icon('M9 5v14M15 5v14');
export const WarningIcon = /* @__PURE__ */ icon('M12 4L2.5 20h19zM12 10v4.5M12 17.2v.1');
export const FullscreenIcon = /* @__PURE__ */ icon('M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5');
export const ReplyIcon = /* @__PURE__ */ icon('M10 5L4 11l6 6M4.5 11H14a6 6 0 0 1 6 6v2');
export const EditIcon = /* @__PURE__ */ icon('M4 20l1-4.5L16 4.5l3.5 3.5-11 11zM13.5 7l3.5 3.5');
export const TrashIcon = /* @__PURE__ */ icon('M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5M14 11v5');
export const FileIcon = /* @__PURE__ */ icon('M6 3h8l4 4v14H6zM14 3v4h4');
export const AttachIcon = /* @__PURE__ */ icon(
  'M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.2a3 3 0 0 1 4.3 4.3l-7.6 7.6a1.5 1.5 0 0 1-2.2-2.1L14 7.5',
);
export const SendIcon = /* @__PURE__ */ icon('M4 12L20 4.5 15 20l-3.5-6.5zM11.5 13.5L20 4.5');
export const SpeakerOffIcon = /* @__PURE__ */ icon('M4 9.5v5h3.5l5 4v-13l-5 4zM16.5 9.5l5 5M21.5 9.5l-5 5');
