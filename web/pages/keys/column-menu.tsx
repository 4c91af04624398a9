import { Menu } from '@base-ui/react/menu';
import { Check, Columns3 } from 'lucide-react';
import type { JSX } from 'react';
import { keys as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { COLUMNS } from './columns.tsx';

interface ColumnMenuProps {
  readonly hidden: ReadonlySet<string>;
  readonly onHidden: (hidden: ReadonlySet<string>) => void;
}

/** Menu to show and hide columns. It stays open, because several are often toggled in a row. */
export function ColumnMenu({ hidden, onHidden }: ColumnMenuProps): JSX.Element {
  const toggle = (id: string): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    onHidden(next);
  };
  return (
    <Menu.Root>
      <Menu.Trigger
        render={
          <Button className="max-sm:hidden">
            <Columns3 aria-hidden="true" />
            {t.columns}
          </Button>
        }
      />
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="fade min-w-44 rounded-lg border border-line bg-raised p-1 text-sm shadow-float outline-none">
            {COLUMNS.slice(1).map((column) => (
              <Menu.CheckboxItem
                key={column.id}
                checked={!hidden.has(column.id)}
                onCheckedChange={() => toggle(column.id)}
                className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 outline-none select-none data-highlighted:bg-hover"
              >
                <span className="flex size-4 items-center">
                  <Menu.CheckboxItemIndicator>
                    <Check aria-hidden="true" className="size-4" />
                  </Menu.CheckboxItemIndicator>
                </span>
                {column.header}
              </Menu.CheckboxItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
