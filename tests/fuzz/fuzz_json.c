/* Fuzz target: world scenes from any bytes. */
#include "tests/fuzz/check_scene.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_corpus = "tests/fuzz/corpus_json";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Scene scene;
    Err err = {0};
    if (scene_read_json((const char *)data, size, "fuzz.json", &scene, &err))
        check_accepted(&scene);
    else
        check_refusal(&scene, &err);
    return 0;
}
