#include "tests/support/vt.h"

#include <stdio.h>
#include <string.h>

void vt_open(Vt *vt, int columns, int rows) {
    memset(vt, 0, sizeof *vt);
    vt->columns = columns;
    vt->rows = rows;
    vt->bottom = rows - 1;
    for (int y = 0; y < rows; y++)
        memset(vt->cells[y], ' ', (size_t)columns);
}

static void vt_erase(Vt *vt, int y, int from, int to) {
    to = to < vt->columns ? to : vt->columns;
    if (y < vt->rows && from < to)
        memset(vt->cells[y] + from, ' ', (size_t)(to - from));
}

/* Moves rows `top` to vt->bottom up by `count`, or down where it is negative. */
static void vt_scroll(Vt *vt, int top, int count) {
    int up = count > 0;
    for (int i = 0; i < (up ? count : -count); i++) {
        size_t kept = (size_t)(vt->bottom - top) * sizeof *vt->cells;
        memmove(vt->cells[top + !up], vt->cells[top + up], kept);
        vt_erase(vt, up ? vt->bottom : top, 0, vt->columns);
    }
}

/* Moves what stands from the cursor on to the right by `count`, or to the left. */
static void vt_shift(Vt *vt, int count) {
    char row[VT_COLUMNS];
    if (vt->y >= vt->rows)
        return;
    memcpy(row, vt->cells[vt->y], sizeof row);
    for (int x = vt->x; x < vt->columns; x++) {
        int from = x - count;
        bool inside = from >= vt->x && from < vt->columns;
        vt->cells[vt->y][x] = inside ? row[from] : ' ';
    }
}

static void vt_put(Vt *vt, unsigned char byte) {
    if (byte == '\r')
        vt->x = 0;
    else if (byte == '\b')
        vt->x -= vt->x > 0;
    else if (byte == '\n' && vt->y == vt->bottom)
        vt_scroll(vt, vt->top, 1);
    else if (byte == '\n')
        vt->y++;
    if (byte < ' ' || (byte & 0xc0) == 0x80) /* control, or inside a character in UTF-8 */
        return;
    vt->last = byte < 0x80 ? (char)byte : '?';
    if (vt->y < vt->rows && vt->x < vt->columns)
        vt->cells[vt->y][vt->x++] = vt->last;
}

/* ESC [ first ; second letter; 0: left out. */
static void vt_csi(Vt *vt, char letter, int first, int second) {
    int count = first ? first : 1;
    switch (letter) {
    case 'A': vt->y -= count; break;
    case 'B': vt->y += count; break;
    case 'C': vt->x += count; break;
    case 'D': vt->x -= count; break;
    case 'G': vt->x = count - 1; break;
    case 'd': vt->y = count - 1; break;
    case 'H': vt->y = count - 1; vt->x = second ? second - 1 : 0; break;
    case 'L': vt_scroll(vt, vt->y, -count); break;
    case 'M': vt_scroll(vt, vt->y, count); break;
    case 'S': vt_scroll(vt, vt->top, count); break;
    case 'T': vt_scroll(vt, vt->top, -count); break;
    case 'X': vt_erase(vt, vt->y, vt->x, vt->x + count); break;
    case 'K': vt_erase(vt, vt->y, first ? 0 : vt->x, first ? vt->x + 1 : vt->columns); break;
    case 'J':
        vt_erase(vt, vt->y, first ? 0 : vt->x, vt->columns);
        for (int y = first ? 0 : vt->y + 1; y < vt->rows; y++)
            vt_erase(vt, y, 0, vt->columns);
        break;
    case 'b':
        for (; count > 0; count--)
            vt_put(vt, (unsigned char)vt->last);
        break;
    case 'r':
        vt->top = count - 1;
        vt->bottom = (second && second < vt->rows ? second : vt->rows) - 1;
        vt->x = vt->y = 0;
        break;
    case '@': vt_shift(vt, count); break;
    case 'P': vt_shift(vt, -count); break;
    }
    vt->x = vt->x < 0 ? 0 : vt->x;
    vt->y = vt->y < 0 ? 0 : vt->y;
}

/* A sequence behind Escape. Returns what follows; NULL: its end is not there yet. */
static const char *vt_sequence(Vt *vt, const char *at, const char *end) {
    int first = 0, second = 0;
    const char *last = at;
    if (at < end && *at == '[')
        for (last++; last < end && (*last < '@' || *last > '~');)
            last++;
    else if (at < end && *at == '(')
        last++;
    if (last >= end)
        return NULL;
    if (*at == '[' && at[1] != '?') {
        sscanf(at, "[%d;%d", &first, &second);
        vt_csi(vt, *last, first, second);
    } else if (*at == '7') {
        vt->saved_x = vt->x;
        vt->saved_y = vt->y;
    } else if (*at == '8') {
        vt->x = vt->saved_x;
        vt->y = vt->saved_y;
    } else if (*at == 'M' && vt->y == vt->top)
        vt_scroll(vt, vt->top, -1);
    else if (*at == 'M')
        vt->y--;
    return last + 1;
}

bool vt_follow_frame(Vt *vt, const Pty *pty) {
    static const char frame_ends[] = "\033[?2026l";
    const char *at = pty->output + vt->read, *end = pty->output + pty->length;
    bool whole = false;
    while (!whole && at && at < end) {
        const char *begun = at;
        if (*at == '\033')
            at = vt_sequence(vt, at + 1, end);
        else
            vt_put(vt, (unsigned char)*at++);
        vt->read += at ? (size_t)(at - begun) : 0;
        whole = at && (size_t)(at - begun) == strlen(frame_ends) &&
                !memcmp(begun, frame_ends, strlen(frame_ends));
    }
    return whole;
}

void vt_follow(Vt *vt, const Pty *pty) {
    while (vt_follow_frame(vt, pty))
        ;
}

bool vt_find(const Vt *vt, const char *text, int from, int *x, int *y) {
    for (*y = from; *y < vt->rows; ++*y) {
        const char *found = strstr(vt->cells[*y], text);
        if (found) {
            *x = (int)(found - vt->cells[*y]);
            return true;
        }
    }
    return false;
}

bool vt_wait(Vt *vt, Pty *pty, const char *text, int from, bool wanted,
                           double seconds) {
    double end = pty_now_s() + seconds;
    for (int x, y; pty_now_s() < end; pty_read(pty, 0.005)) {
        for (bool more = true; more;) {
            more = vt_follow_frame(vt, pty);
            if (vt_find(vt, text, from, &x, &y) == wanted)
                return true;
        }
    }
    return false;
}
