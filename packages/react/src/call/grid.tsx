import { Children, isValidElement, type ReactElement, type ReactNode, useState } from 'react';
import { useSize } from '../hooks/use-size.ts';
import { ChevronLeftIcon, ChevronRightIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { arrangeFocus, arrangeGrid, type Box } from './layout.ts';

export interface GridProps {
  /** One tile each, with a key. */
  children: ReactNode;
  /** The key of the tile that is shown large, with the others in a strip. */
  focus?: string | null;
}

/** Tiles from 1 to 49 a page, as large as the element allows. */
export function Grid({ children, focus = null }: GridProps) {
  const texts = useTexts();
  const [ref, size] = useSize<HTMLUListElement>();
  const [wantedPage, setPage] = useState(0);
  const tiles = elementsOf(children);
  const place = tiles.findIndex(({ key }) => focus !== null && key === focus);
  const { boxes, page, pages } =
    place === -1
      ? arrangeGrid(tiles.length, size ?? nothing, wantedPage)
      : arrangeFocus(tiles.length, place, size ?? nothing, wantedPage);
  return (
    <div className="parley parley-grid">
      <ul ref={ref} aria-label={texts.stage}>
        {size &&
          tiles.map((tile, index) => {
            const box = boxes.get(index);
            return (
              box && (
                <li key={tile.key} style={styleOf(box)} data-focus={index === place || undefined}>
                  {tile}
                </li>
              )
            );
          })}
      </ul>
      {pages > 1 && (
        <nav className="parley-pages" aria-label={texts.page(page + 1, pages)}>
          <IconButton label={texts.previousPage} disabled={page === 0} onClick={() => setPage(page - 1)}>
            <ChevronLeftIcon />
          </IconButton>
          <span>{`${page + 1} / ${pages}`}</span>
          <IconButton label={texts.nextPage} disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            <ChevronRightIcon />
          </IconButton>
        </nav>
      )}
    </div>
  );
}

/** With the keys that they were given; `Children.toArray` would change them. */
function elementsOf(children: ReactNode): ReactElement[] {
  const found: ReactElement[] = [];
  Children.forEach(children, (child) => {
    if (isValidElement(child)) found.push(child);
  });
  return found;
}

const nothing = { width: 0, height: 0 };

const styleOf = ({ start, top, width, height }: Box) => ({ insetInlineStart: start, top, width, height });
