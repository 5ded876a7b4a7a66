import '../src/styles/index.css';
import './gallery.css';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { callAlone, callExhibits } from './call.tsx';
import { chatAlone, chatExhibits } from './chat.tsx';
import type { Exhibit } from './gallery.ts';

const exhibits: readonly Exhibit[] = [...callExhibits, ...chatExhibits];
/** Shown only alone. */
const aloneOnly: readonly Exhibit[] = [...callAlone, ...chatAlone];

/** `?theme=dark` and `?dir=rtl` choose the look; `#name` shows one exhibit alone. */
const { documentElement: html } = document;
const look = new URLSearchParams(location.search);
html.dataset['parleyTheme'] = look.get('theme') ?? '';
html.dir = look.get('dir') ?? 'ltr';

const nameInAddress = (): string => decodeURIComponent(location.hash.slice(1));

function Gallery() {
  const [name, setName] = useState(nameInAddress);
  useEffect(() => {
    const onHash = (): void => setName(nameInAddress());
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  const alone = [...exhibits, ...aloneOnly].find((exhibit) => exhibit.name === name);
  if (alone)
    return (
      <main className="gallery-alone" key={alone.name}>
        <h1 className="parley-hidden">{alone.name}</h1>
        {alone.element()}
      </main>
    );
  return (
    <main className="gallery">
      <h1>Gallery of @parley/react</h1>
      {exhibits.map((exhibit) => (
        <section key={exhibit.name} aria-labelledby={exhibit.name}>
          <h2 id={exhibit.name}>
            <a href={`#${exhibit.name}`}>{exhibit.name}</a>
          </h2>
          <div className="gallery-frame">{exhibit.element()}</div>
        </section>
      ))}
      <h2>Alone</h2>
      <ul className="gallery-list">
        {aloneOnly.map((exhibit) => (
          <li key={exhibit.name}>
            <a href={`#${exhibit.name}`}>{exhibit.name}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(<Gallery />);
