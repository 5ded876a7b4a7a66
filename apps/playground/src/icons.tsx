/** Beside those of the kit, in the same style. */
const Icon = ({ path }: { path: string }) => (
  <svg className="parley-icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={path} />
  </svg>
);

export const AddPersonIcon = () => (
  <Icon path="M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 2.9-6 6.5-6s6.5 2.5 6.5 6M19 8v6M16 11h6" />
);
export const CodeIcon = () => <Icon path="M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14" />;
export const LinkIcon = () => (
  <Icon path="M10 14a4 4 0 0 0 6 0l3.5-3.5a4 4 0 0 0-6-6L12 6M14 10a4 4 0 0 0-6 0l-3.5 3.5a4 4 0 0 0 6 6L12 18" />
);
