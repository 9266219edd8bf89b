// Replying by a finger: a message that is drawn aside far enough is answered.

const BEGINS = 12; // px aside from which it is a swipe and no scrolling
const COUNTS = 56; // px aside from which letting go replies
const FARTHEST = 84; // px that the message follows

/** Lets an item be swiped; column is what moves. */
export function swipeToReply(item, column, reply) {
  let start = null; // where the finger came down; null: no swipe can be under way
  let aside = 0;

  item.addEventListener('pointerdown', (e) => {
    if (e.pointerType === 'touch' && e.isPrimary) start = { id: e.pointerId, x: e.clientX, y: e.clientY };
  });
  item.addEventListener('pointermove', (e) => {
    if (e.pointerId !== start?.id) return;
    const dx = start.x - e.clientX;
    if (!aside && (dx < BEGINS || Math.abs(e.clientY - start.y) > dx)) return;
    if (!aside) item.setPointerCapture(e.pointerId); // what is under the finger gets no click
    aside = Math.max(1, Math.min(dx, FARTHEST));
    column.style.transform = `translateX(${-aside}px)`;
    item.classList.add('swiped');
    const enough = aside >= COUNTS;
    if (enough && !item.classList.contains('swiped-enough')) navigator.vibrate?.(8);
    item.classList.toggle('swiped-enough', enough);
  });
  const end = (e) => {
    if (e.pointerId !== start?.id) return;
    const far = e.type === 'pointerup' && aside >= COUNTS;
    start = null;
    aside = 0;
    column.style.transform = '';
    item.classList.remove('swiped', 'swiped-enough');
    if (far) reply();
  };
  item.addEventListener('pointerup', end);
  item.addEventListener('pointercancel', end);
}
