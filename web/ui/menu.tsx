import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { JSX, ReactElement, ReactNode } from 'react';
import { isReadOnly } from '../viewed.ts';
import { cx } from './cx.ts';

/** An item of a menu. */
export interface MenuAction {
  readonly label: ReactNode;
  readonly icon?: ReactNode;
  readonly tone?: 'bad';
  readonly isDisabled?: boolean;
  /** The action changes the account, as for buttons. */
  readonly isChange?: boolean;
  readonly onChoose: () => void;
}

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement;
  /** Label of a button that shows only an icon. */
  readonly label?: string;
  /** Undefined draws a line between groups. */
  readonly actions: readonly (MenuAction | undefined)[];
  /** Content above the actions. */
  readonly head?: ReactNode;
  readonly align?: 'start' | 'end';
  readonly isOpenAtFirst?: boolean;
}

/** A menu of actions behind a button. */
export function Menu({ trigger, label, actions, head, align = 'end', isOpenAtFirst = false }: MenuProps): JSX.Element {
  return (
    <BaseMenu.Root defaultOpen={isOpenAtFirst}>
      <BaseMenu.Trigger render={trigger} {...(label !== undefined && { 'aria-label': label })} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner sideOffset={6} align={align} className="z-50">
          <BaseMenu.Popup className="fade max-w-(--available-width) min-w-48 rounded-lg border border-line bg-raised p-1 text-sm shadow-float outline-none">
            {head}
            {actions.map((action, index) =>
              action === undefined ? (
                <BaseMenu.Separator key={String(index)} className="my-1 h-px bg-line" />
              ) : (
                <Item key={String(index)} action={action} />
              ),
            )}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

function Item({ action }: { readonly action: MenuAction }): JSX.Element {
  return (
    <BaseMenu.Item
      disabled={action.isDisabled === true || (isReadOnly && action.isChange === true)}
      onClick={action.onChoose}
      className={cx(
        'flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 wrap-anywhere outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover [&_svg]:size-4',
        action.tone === 'bad' ? 'text-bad' : 'text-ink',
      )}
    >
      {action.icon}
      {action.label}
    </BaseMenu.Item>
  );
}
