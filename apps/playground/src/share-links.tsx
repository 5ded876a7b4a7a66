import { useState } from 'react';

interface ShareLink {
  label: string;
  hint: string;
  path: string;
}

/** The addresses to hand on, each with a button that copies it. */
export function ShareLinks({ id }: { id: string }) {
  const links: readonly ShareLink[] = [
    { label: 'For viewers', hint: 'They watch and write.', path: `/playground/watch/${id}` },
    { label: 'For co-hosts', hint: 'They come on stage with you.', path: `/playground/host/${id}` },
  ];
  return (
    <ul className="share-links">
      {links.map((link) => (
        <li key={link.path}>
          <Link {...link} />
        </li>
      ))}
    </ul>
  );
}

function Link({ label, hint, path }: ShareLink) {
  const [copied, setCopied] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(location.origin + path);
      setCopied('Copied.');
    } catch {
      setCopied('The browser does not allow copying: take it from the link.');
    }
  };
  return (
    <>
      <h3>{label}</h3>
      <p className="field-hint">{hint}</p>
      <a href={path}>{path}</a>
      <button
        type="button"
        className="parley-button"
        aria-label={`Copy the link ${label.toLowerCase()}`}
        onClick={() => void copy()}
      >
        Copy
      </button>
      <span role="status">{copied}</span>
    </>
  );
}
