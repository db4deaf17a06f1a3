#include "src/view/bev/nth.h"

#include <assert.h>

static void swap(float *a, float *b) {
    float keep = *a;
    *a = *b;
    *b = keep;
}

float nth_smallest(float *values, size_t count, size_t n) {
    assert(n < count);
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, wanted = (ptrdiff_t)n;
    while (low < high) {
        float pivot = values[wanted];
        ptrdiff_t i = low, j = high;
        do { /* in the end nothing left of i is larger than the pivot, nothing right of j smaller */
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j)
                swap(&values[i++], &values[j--]);
        } while (i <= j);
        if (j < wanted)
            low = i;
        if (wanted < i)
            high = j;
    }
    return values[wanted];
}
